/**
 * What the API process and the SSH process call of each other, over the channel of a forked process. The SSH process has
 * no store and no keys of the installation but its host key: who may come in, and what they may reach, the API process
 * decides.
 */

/** What the SSH process needs to begin. */
export interface SshSettings {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  /** Private key of the host in OpenSSH's format. */
  readonly hostKey: string
  /** What is said of a connection to a container that breaks, and of one without the container tool. */
  readonly sentences: { readonly lost: string; readonly missing: string }
  readonly engine: SshEngine
}

/** How the engine is reached, which starts programs in containers: the options of its adapter. */
export type SshEngine = { readonly installation: string } & (
  | { readonly kind: 'docker'; readonly dockerHost: string | undefined; readonly network: string }
  | ({ readonly kind: 'kubernetes' } & ClusterOptions)
)

/** `Config.kubernetes`. */
export interface ClusterOptions {
  readonly kubeconfig: string | undefined
  readonly namespace: string | null
  readonly storageClass: string | null
  readonly helperImage: string | null
  readonly toolImage: string | null
}

/** Who proved to have a key. */
export interface SshClient {
  /** The name before the `@`: slug and type. */
  readonly name: string
  /** Of the key, as OpenSSH writes it. */
  readonly fingerprint: string
  readonly address: string
}

/** A session that began, or why it may not: a sentence for the terminal. */
export type BegunSession = { readonly session: number } | { readonly refusal: string }

/** A container that runs, or why it does not. */
export type OpenedContainer =
  | {
      /** Of the engine. */
      readonly containerId: string
      /** Where its home is mounted; empty without one. */
      readonly home: string
    }
  | { readonly refusal: string }

/** What the API process answers. */
export interface SshControl {
  /** Whether this key opens this name: the same cost for names and keys that do not exist. */
  mayUse(name: string, fingerprint: string): Promise<boolean>
  /** A client proved to have the key. */
  begin(client: SshClient): Promise<BegunSession>
  /** Makes the container of a session run, as a launch does. At most `LAUNCH_TIMEOUT`. */
  open(session: number): Promise<OpenedContainer>
  /** Bytes came from a client whose container is paused. */
  wake(session: number): Promise<void>
  /** Sessions in which bytes moved since the last call, about every second. */
  reportUse(sessions: readonly number[]): void
  end(session: number): void
  /** A client left without having proved anything. @param name that it gave, if it gave one */
  reportFailure(address: string, name: string): void
  /** A bug, or what broke. */
  report(problem: string): void
}

/** What the SSH process answers. */
export interface SshListener {
  /** Begins to listen. @returns the port @throws {Error} in words for the operator, when it cannot be had */
  serve(settings: SshSettings): Promise<number>
  /** Ends sessions with this sentence. */
  endSessions(sessions: readonly number[], why: string): void
  /** The containers of these sessions are paused, or run again. */
  setPaused(sessions: readonly number[], isPaused: boolean): void
  /** Accepts nothing more, and ends all sessions with this sentence; resolves when they have read it, within a second. */
  stop(why: string): Promise<void>
  /** Numbers for `/metrics`, by name. */
  counts(): Readonly<Record<string, number>>
}

/** Timeout of the longest call of either side, in ms: a launch, beside the time in which the other process may be busy. */
export const callTimeout = 3_700_000
