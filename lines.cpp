#include <spotter/hook.hpp>
