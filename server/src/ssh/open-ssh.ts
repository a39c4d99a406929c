import type { Logger } from 'pino'
import { sshConfigEntry } from '@berth/api/ssh-config.ts'
import { defaultLanguage } from '@berth/texts/language.ts'
import { localize } from '@berth/texts/localize.ts'
import { message, type LocalizedMessage } from '@berth/texts/localized-message.ts'
import type { SigningKeys } from '#/accounts/sessions/signing-keys.ts'
import type { SshKeys } from '#/accounts/ssh-keys.ts'
import type { Containers } from '#/containers/open-containers.ts'
import type { StreamRegistry } from '#/containers/stream-registry.ts'
import { refusals } from '#/refusals/errors.ts'
import type { Database } from '#/store/database.ts'
import type { User } from '#/store/users.ts'
import { hostKeyFrom, type HostKey } from './host-key.ts'
import { SshProcess } from './ssh-process-handle.ts'
import type { ClusterOptions, SshSettings } from './ssh-protocol.ts'
import { SshSessions } from './ssh-sessions.ts'

/** Settings of this room, as `Config` has them. */
export interface SshConfig {
  /** Null: no SSH. */
  readonly sshListen: { readonly host: string; readonly port: number; readonly text: string } | null
  readonly dockerHost: string | undefined
  readonly kubernetes: ClusterOptions | null
}

export interface SshParts {
  readonly config: SshConfig
  readonly installation: string
  readonly key: Pick<SigningKeys, 'secretFor'>
  readonly addresses: { readonly spawnerUrl: string }
  readonly database: Database
  readonly containers: Containers
  readonly accounts: { readonly sshKeys: SshKeys }
  readonly sessions: { readonly streams: StreamRegistry }
  readonly log: Logger
}

/** How clients reach the SSH server. */
export interface SshAddress {
  readonly host: string
  readonly port: number
  /** Lines for `known_hosts`. */
  readonly hostKeys: readonly string[]
}

/** The room of SSH: the server's process, and sessions of people in their containers. Without `SSH_LISTEN` it is empty. */
export class Ssh {
  readonly keys: SshKeys
  readonly #parts: SshParts
  readonly #process: SshProcess | undefined
  readonly #hostKey: HostKey | undefined

  constructor(parts: SshParts) {
    const { config, database, containers, accounts, sessions, key, log } = parts
    this.#parts = parts
    this.keys = accounts.sshKeys
    if (config.sshListen === null) return
    this.#hostKey = hostKeyFrom(key.secretFor('ssh host key'))
    const control = new SshSessions({
      database,
      keys: this.keys,
      containers,
      streams: sessions.streams,
      listener: () => this.#process,
      log,
    })
    const settings = () => this.#settings()
    this.#process = new SshProcess({ control, settings, onLost: () => control.forgetAll(), log })
  }

  /** Where the server is. @throws {Refusal} 404 without one */
  address(): SshAddress {
    const { config, addresses } = this.#parts
    if (config.sshListen === null || !this.#hostKey) throw refusals.notFound('sshServer')
    const host = new URL(addresses.spawnerUrl).hostname.replace(/^\[|\]$/g, '')
    const port = this.#process?.port ?? config.sshListen.port
    const name = port === 22 ? host : `[${host}]:${port}`
    return { host, port, hostKeys: [`${name} ${this.#hostKey.publicText}`] }
  }

  /** Text for `~/.ssh/config`, with an entry for each type that the user sees. @throws {Refusal} 404 without a server */
  async clientConfig(user: User): Promise<string> {
    const address = this.address()
    const types = await this.#parts.containers.rules.visible(user)
    const entries = types.map(({ type }) => sshConfigEntry(address, `${user.slug}-${type}`))
    const known = address.hostKeys.map((line) => `# For ~/.ssh/known_hosts: ${line}`)
    const parts = [...known, ...entries].filter((part) => part !== undefined)
    return `${parts.join('\n\n')}\n`
  }

  /** Begins to listen; a failure is a warning, and is tried again. */
  start(): void {
    void this.#process?.start()
  }

  /** Ends all sessions with a sentence. */
  async stop(): Promise<void> {
    await this.#process?.stop(localize(defaultLanguage, message('ssh.serverStops')))
  }

  /** What is wrong, for the system page. */
  warnings(): readonly LocalizedMessage[] {
    const problem = this.#process?.problem
    return problem === undefined ? [] : [message('findings.sshDown', { problem })]
  }

  /** Numbers for `/metrics`. */
  async counts(): Promise<Readonly<Record<string, number>>> {
    return (await this.#process?.counts()) ?? {}
  }

  #settings(): SshSettings {
    const { config, installation } = this.#parts
    const { host = '', port = 0 } = config.sshListen ?? {}
    const [lost, missing] = [message('ssh.engineFailed'), message('ssh.noTool')].map((words) =>
      localize(defaultLanguage, words),
    )
    return {
      host,
      port,
      hostKey: this.#hostKey?.privateText ?? '',
      sentences: { lost: lost ?? '', missing: missing ?? '' },
      engine:
        config.kubernetes === null
          ? { kind: 'docker', installation, dockerHost: config.dockerHost, network: installation }
          : { kind: 'kubernetes', installation, ...config.kubernetes },
    }
  }
}
