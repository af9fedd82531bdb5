/* Tables of Level Zero's tools and sysman APIs, which this driver does not implement: they stay empty. Some loaders
 * reject a driver that does not export these functions. */
#include "level_zero_driver/core/fault_injection.h"

#define TABLE(name)                                                                                                    \
    __attribute__((visibility("default"))) ze_result_t name(ze_api_version_t version, void *table);                    \
    ze_result_t name(ze_api_version_t version, void *table)                                                            \
    {                                                                                                                  \
        int minor;                                                                                                     \
        return blz_call_table(version, table, &minor);                                                                 \
    }

TABLE(zetGetCommandListProcAddrTable)
TABLE(zetGetContextProcAddrTable)
TABLE(zetGetDebugProcAddrTable)
TABLE(zetGetDeviceProcAddrTable)
TABLE(zetGetKernelProcAddrTable)
TABLE(zetGetMetricGroupExpProcAddrTable)
TABLE(zetGetMetricGroupProcAddrTable)
TABLE(zetGetMetricProcAddrTable)
TABLE(zetGetMetricQueryPoolProcAddrTable)
TABLE(zetGetMetricQueryProcAddrTable)
TABLE(zetGetMetricStreamerProcAddrTable)
TABLE(zetGetModuleProcAddrTable)
TABLE(zetGetTracerExpProcAddrTable)
TABLE(zesGetDeviceProcAddrTable)
TABLE(zesGetDiagnosticsProcAddrTable)
TABLE(zesGetDriverProcAddrTable)
TABLE(zesGetEngineProcAddrTable)
TABLE(zesGetFabricPortProcAddrTable)
TABLE(zesGetFanProcAddrTable)
TABLE(zesGetFirmwareProcAddrTable)
TABLE(zesGetFrequencyProcAddrTable)
TABLE(zesGetLedProcAddrTable)
TABLE(zesGetMemoryProcAddrTable)
TABLE(zesGetPerformanceFactorProcAddrTable)
TABLE(zesGetPowerProcAddrTable)
TABLE(zesGetPsuProcAddrTable)
TABLE(zesGetRasProcAddrTable)
TABLE(zesGetSchedulerProcAddrTable)
TABLE(zesGetStandbyProcAddrTable)
TABLE(zesGetTemperatureProcAddrTable)
