# SPDX-License-Identifier: Apache-2.0
import sys

from .command_line import main

sys.exit(main())
