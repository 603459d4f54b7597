// SPDX-License-Identifier: Apache-2.0
// Macros that hosts define before they include a library: those of Qt, Unreal Engine, Windows, X11, Arduino and others.
// Left out are those that break a standard library's own headers (`__in`, `bool`). Generated files of tests/headers
// first include foreign headers, then this, then spotter.
// clang-format off

// Programs that look at private members.
#define private public
#define protected public

// Qt, without QT_NO_KEYWORDS.
#define slots
#define signals public
#define emit
#define foreach(variable, container) for (variable : container)
#define forever for (;;)
#define SIGNAL(a) "2" #a
#define SLOT(a) "1" #a
#define METHOD(a) "0" #a
#define Q_OBJECT public:
#define Q_SIGNALS public
#define Q_SLOTS
#define Q_EMIT
#define Q_FOREACH(variable, container) for (variable : container)
#define Q_UNUSED(x) (void)x;
#define Q_ASSERT(x) static_cast<void>(false && (x))
#define Q_INVOKABLE
#define Q_PROPERTY(...)
#define Q_ENUM(...)
#define Q_GADGET
#define QT_VERSION 0x060700

// Unreal Engine.
#define check(expression) { if (!(expression)) { __builtin_trap(); } }
#define checkf(expression, ...) { if (!(expression)) { __builtin_trap(); } }
#define checkSlow(expression) {}
#define checkCode(code) do { code; } while (false);
#define checkNoEntry() __builtin_trap()
#define verify(expression) { if (!(expression)) { __builtin_trap(); } }
#define verifyf(expression, ...) { if (!(expression)) { __builtin_trap(); } }
#define ensure(expression) (!!(expression))
#define ensureMsgf(expression, ...) (!!(expression))
#define TEXT(x) u##x
#define INLINE inline
#define FORCEINLINE inline
#define FORCENOINLINE
#define CONSTEXPR constexpr
#define RESTRICT __restrict
#define LIKELY(x) (!!(x))
#define UNLIKELY(x) (!!(x))
#define PURE_VIRTUAL(function, ...) {__VA_ARGS__}
#define DEPRECATED(version, message)
#define UCLASS(...)
#define UPROPERTY(...)
#define UFUNCTION(...)
#define GENERATED_BODY(...)
#define UE_LOG(category, verbosity, format, ...)
#define LOCTEXT(key, text) text
#define PLATFORM_WINDOWS 0
#define DO_CHECK 1

// Windows and what comes with it.
#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define small char
#define hyper long long
#define near
#define far
#define interface struct
#define cdecl
#define pascal
#define CONST const
#define VOID void
#define TRUE 1
#define FALSE 0
#define IN
#define OUT
#define OPTIONAL
#define ERROR 0
#define NO_ERROR 0L
#define DELETE (0x00010000L)
#define STRICT 1
#define THIS
#define PASCAL
#define CALLBACK
#define WINAPI
#define DIFFERENCE 11
#define ABSOLUTE 1
#define RELATIVE 2
#define TRANSPARENT 1
#define OPAQUE 2
#define ALTERNATE 1
#define IGNORE 0
#define INFINITE 0xFFFFFFFF
#define DOMAIN 1
#define OVERFLOW 3
#define UNDERFLOW 4
#define rad1 0x0490
#define GetMessage GetMessageW
#define GetObject GetObjectW
#define GetCurrentTime GetTickCount
#define SendMessage SendMessageW
#define PostMessage PostMessageW
#define CreateFile CreateFileW
#define DeleteFile DeleteFileW
#define CopyFile CopyFileW
#define MoveFile MoveFileW
#define ReportEvent ReportEventW
#define FindText FindTextW
#define LoadString LoadStringW
#define RGB(r, g, b) ((r) | ((g) << 8) | ((b) << 16))
#define Yield()

// X11.
#define None 0L
#define Bool int
#define Success 0
#define Status int
#define Always 2
#define Never 0
#define Above 0
#define Below 1
#define True 1
#define False 0
#define Complex 0
#define Convex 2
#define Nonconvex 1
#define Unsorted 0
#define CursorShape 0
#define CurrentTime 0L
#define GrayScale 1
#define Expose 12
#define FocusIn 9
#define FocusOut 10
#define KeyPress 2
#define KeyRelease 3
#define Button1 1
#define NoSymbol 0L
#define BadValue 2
#define DestroyAll 0

// Arduino.
#define F(text) (text)
#define B0 0
#define B1 1
#define PI 3.1415926535897932384626433832795
#define HALF_PI 1.5707963267948966192313216916398
#define TWO_PI 6.283185307179586476925286766559
#define DEG_TO_RAD 0.017453292519943295769236907684886
#define EULER 2.718281828459045235360287471352
#define HIGH 0x1
#define LOW 0x0
#define INPUT 0x0
#define OUTPUT 0x1
#define CHANGE 1
#define FALLING 2
#define RISING 3
#define DEFAULT 1
#define EXTERNAL 0
#define INTERNAL 3
#define DISPLAY 0x1
#define SERIAL 0x0
#define abs(x) ((x) > 0 ? (x) : -(x))
#define round(x) ((x) >= 0 ? (long)((x) + 0.5) : (long)((x) - 0.5))
#define constrain(amount, low, high) ((amount) < (low) ? (low) : ((amount) > (high) ? (high) : (amount)))
#define radians(degrees) ((degrees) * DEG_TO_RAD)
#define degrees(radians) ((radians) * 57.295779513082320876798154814105)
#define sq(x) ((x) * (x))
#define bit(b) (1UL << (b))
#define bitRead(value, bit) (((value) >> (bit)) & 0x01)
#define bitSet(value, bit) ((value) |= (1UL << (bit)))
#define bitClear(value, bit) ((value) &= ~(1UL << (bit)))
#define bitWrite(value, bit, bitvalue) ((bitvalue) ? bitSet(value, bit) : bitClear(value, bit))
#define lowByte(w) ((unsigned char)((w) & 0xff))
#define highByte(w) ((unsigned char)((w) >> 8))
#define interrupts() static_cast<void>(0)
#define noInterrupts() static_cast<void>(0)
#define clockCyclesPerMicrosecond() 16L

// Systems, compilers and logging libraries.
#define linux 1
#define unix 1
#define major(device) ((device) >> 8)
#define minor(device) ((device) & 0xff)
#define I (__extension__ 1.0iF)
#define complex _Complex
#undef assert
#define assert(expression) static_cast<void>(0)
#define likely(x) (!!(x))
#define unlikely(x) (!!(x))
#define require(assertion, label) { if (!(assertion)) { goto label; } }
#define nil nullptr
#define YES 1
#define NO 0
#undef MIN
#define MIN(a, b) (((a) < (b)) ? (a) : (b))
#undef MAX
#define MAX(a, b) (((a) > (b)) ? (a) : (b))
#define SWAP(a, b) static_cast<void>(0)
#define UNUSED(x) static_cast<void>(x)
#define DEBUG 1
#define INFO 1
#define WARNING 2
#define FATAL 3
#undef LOG
#define LOG(severity) static_cast<void>(severity)
#undef CHECK
#define CHECK(condition) static_cast<void>(condition)
#define ASSERT(condition) static_cast<void>(condition)
#define isset(a, i) ((a)[(i) / 8] & (1 << ((i) % 8)))
#define setbit(a, i) ((a)[(i) / 8] |= (1 << ((i) % 8)))
#define howmany(x, y) (((x) + ((y) - 1)) / (y))
#define roundup(x, y) ((((x) + ((y) - 1)) / (y)) * (y))
#undef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
