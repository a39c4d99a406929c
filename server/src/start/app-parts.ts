import type { AuditWebhookPace } from '#/admin/open-admin.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import type { Config } from '#/config/config.ts'
import type { Foundation, GracePeriods } from '#/containers/containers-parts.ts'
import type { StreamKind } from '#/containers/stream-registry.ts'
import type { Mailer } from '#/accounts/mail/mailer.ts'
import type { NodeReport } from '#/nodes/node.ts'

/** Dependencies of the API that differ between the real program and a test; the rooms construct everything else. */
export interface AppParts extends Foundation {
  readonly config: Config
  readonly key: SigningKeys
  readonly mailer: Mailer
  /** Unix socket on which API and front end listen, in a folder that only its owner may enter. */
  readonly socketPath: string
  /** Unix socket in the same folder; its requests are the operator's. Undefined: no such listener. */
  readonly operatorSocket?: string
  /** Called when the API, and then the operator's listener, accepts connections. */
  readonly onListening?: (socket: 'api' | 'operator') => void
  /** Whether another process of this installation served until this one started: the engine is prepared already. */
  readonly takesOver?: boolean
  /** With several nodes; this one leads. */
  readonly nodes?: NodeReport
  /** Folder of the built front end. */
  readonly webDir: string
  /**
   * Of a node that takes over from another one: requests wait, and are served before the host is prepared. Called when it is, or does
   * not answer; until then the runtime starts no container.
   */
  readonly onPrepared?: (() => void) | undefined
  /** Shorter times, for tests. */
  readonly pace?: Partial<Pace>
  /** Fewer open streams of all users together, likewise. */
  readonly maxStreams?: Partial<Record<StreamKind, number>>
}

/** Intervals of the reconciler, its grace periods, home measurements, limits of work on a home, how long a date has to be over, and the audit webhook; all in ms. */
export type Pace = GracePeriods & {
  readonly every: number
  readonly measureHomes: number
  readonly homes: number
  readonly overdue: number
  /** How long a page that was opened counts where an application says whether it is used. */
  readonly navigation: number
  readonly auditWebhook: AuditWebhookPace
}
