import type { Logger } from 'pino'
import type { Gateway } from '@berth/gateway/port/gateway.ts'
import type { Runtime } from '#/engines/runtime.ts'
import type { Database } from '#/store/database.ts'
import type { LaunchRules } from '#/templates/launch-rules.ts'
import type { SourceFolders } from '#/templates/template-sources.ts'
import type { Templates } from '#/templates/template.ts'
import type { InstallationSettings } from './launch/build-container-spec.ts'
import type { StreamRegistry } from './stream-registry.ts'
import type { HostCheck } from './reconcile/host-check.ts'
import type { GracePeriods } from './reconcile/plan.ts'

export type { GracePeriods } from './reconcile/plan.ts'
import type { Reconciler } from './reconcile/reconciler.ts'
import type { RouteSyncParts } from './routes/route-sync.ts'

/** Store, engine, gateway and log, on which the rooms of one process are built. */
export interface Foundation {
  readonly database: Database
  readonly runtime: Runtime
  /** The data plane; it keeps serving when this process ends. */
  readonly gateway: Gateway
  /** Name of this installation; the prefix of every container name. */
  readonly installation: string
  /**
   * True for an API that is started for one command while no service runs: no periodic task starts, because the next
   * start of the service does that work, and the operator asked for this one command only.
   */
  readonly isForOneCommand?: boolean
  readonly log: Logger
}

/** Settings of this room, as `Config` has them. */
export interface ContainersSettings {
  readonly templates: Templates
  readonly sources: SourceFolders
  readonly openGitHosts: readonly string[]
  readonly dataDir: string
  readonly containerRouting: 'path' | 'subdomain'
  readonly timeZone: string
  readonly launchTimeout: number
  readonly launchParallel: number
  readonly maxRunning: number | null
  readonly maxPerUser: number | null
  readonly gpuIds: readonly string[]
  readonly gpuWait: number
  readonly retireAfter: number
  readonly fetchesImages: boolean
  readonly snapshots: { readonly isOn: boolean }
}

export interface ContainersParts extends Foundation {
  readonly config: ContainersSettings
  readonly addresses: Pick<InstallationSettings, 'spawnerUrl' | 'containerOrigin'> & { readonly frontendUrl: string }
  /** The keys of tokens, which rotate: they are read at each launch. */
  readonly key: { readonly jwks: unknown; readonly signingJwks: unknown }
  /** Sessions: what ends with them, and which are revoked. */
  readonly sessions: { readonly streams: StreamRegistry; readonly revocations: { all: RouteSyncParts['revoked'] } }
  readonly rules: LaunchRules
  /** Runs nothing before it is started with the tasks of all rooms; it may be asked for a run earlier. */
  readonly reconciler: Reconciler
  readonly hostCheck: HostCheck
  /** For tests, in ms. */
  readonly pace?: Partial<GracePeriods> & {
    readonly overdue?: number
    readonly navigation?: number
    readonly measureHomes?: number
  }
}

/** Whether snapshots of homes are made: before a home gets another image, among other times. */
export const hasSnapshots = (
  { snapshots }: Pick<ContainersSettings, 'snapshots'>,
  runtime: Pick<Runtime, 'homeContents'>,
): boolean => snapshots.isOn && runtime.homeContents() !== undefined
