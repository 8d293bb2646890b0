// A library that is nearly a plug-in.

namespace vsim::gpu::device {
class Api;
}

#ifdef NEEDS_ABSENT
extern "C" int vsimAbsent();
extern "C" int vsimDeviceApiVersion() { return vsimAbsent(); }
#elif defined(API_VERSION)
extern "C" int vsimDeviceApiVersion() { return API_VERSION; }
#endif
#ifdef API_VERSION
extern "C" vsim::gpu::device::Api* vsimMakeDeviceApi() { return nullptr; }
#endif
