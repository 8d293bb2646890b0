// A library that a plug-in needs and that nobody finds.

extern "C" int vsimAbsent() { return 1; }
