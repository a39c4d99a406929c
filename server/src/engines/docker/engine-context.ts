import type { EngineClient } from './engine-client.ts'
import type { BoundFolder, BoundFolders } from './bound-folders.ts'
import type { HostInfo } from './host-info.ts'
import type { HostRules } from './host-rules.ts'
import type { Networks } from './networks.ts'
import type { ImagePulls } from './image-pull.ts'
import type { ListedContainers } from './listed-containers.ts'
import type { OomNotices } from './oom-notices.ts'

/** What every verb works with. */
export interface EngineContext {
  readonly client: EngineClient
  /** Name of this installation, on every label. */
  readonly installation: string
  /** Whether the engine runs on this machine, judged by its address. */
  readonly isLocal: boolean
  readonly networks: Networks
  readonly rules: HostRules
  readonly host: HostInfo
  readonly pulls: ImagePulls
  /** Ids of containers that this process created and has not started yet, with the folders of the host that they mount. */
  readonly created: Map<string, readonly BoundFolder[]>
  readonly boundFolders: BoundFolders
  readonly oomNotices: OomNotices
  readonly listed: ListedContainers
}
