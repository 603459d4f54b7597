// SPDX-License-Identifier: Apache-2.0
// Links the files that include one public header each: nothing may be defined twice.
int main() {}
