import type { AdmissionControl } from './admission-control.ts'
import type { Capacity } from './capacity.ts'
import type { HostResources } from './host-resources.ts'

export interface LoadMetricsParts {
  readonly admission: Pick<AdmissionControl, 'counts'>
  readonly capacity: Pick<Capacity, 'running' | 'maxRunning'>
  readonly hostResources: Pick<HostResources, 'report'>
}

/** How full the server is: numbers for `/metrics`, by name; those that are not known are left out. */
export function loadMetrics({ admission, capacity, hostResources }: LoadMetricsParts): Record<string, number> {
  const { waiting, underWay, parallel } = admission.counts()
  const { memory, disk, addressesLeft } = hostResources.report ?? {}
  return {
    berth_containers_running: capacity.running,
    ...(capacity.maxRunning !== null && { berth_containers_running_max: capacity.maxRunning }),
    berth_launches_waiting: waiting,
    berth_launches_in_progress: underWay,
    berth_launches_in_progress_max: parallel,
    ...(memory && { berth_host_memory_bytes: memory.total, berth_host_memory_available_bytes: memory.available }),
    ...(disk && { berth_host_disk_bytes: disk.total, berth_host_disk_free_bytes: disk.free }),
    ...(typeof addressesLeft === 'number' && { berth_host_addresses_left: addressesLeft }),
  }
}
