import { execFile } from 'node:child_process'
import type { KubeConfig, User } from '@kubernetes/client-node'

/** The field `exec` of a user of `KUBECONFIG`. */
interface PluginSettings {
  readonly apiVersion?: string
  readonly command?: string
  readonly args?: readonly string[] | null
  readonly env?: readonly { readonly name: string; readonly value: string }[] | null
}

/** What a plugin prints: the status of an `ExecCredential` (client.authentication.k8s.io). */
interface PluginCredential {
  readonly token?: string
  readonly clientCertificateData?: string
  readonly clientKeyData?: string
  readonly expirationTimestamp?: string
}

type Authenticator = Parameters<KubeConfig['addAuthenticator']>[0]

/** Bytes of the output of a plugin. */
const maxOutput = 1024 * 1024

/**
 * Has the plugin of the current user run here instead of by the library, which neither ends a plugin that hangs nor
 * shares one run between callers.
 * @param limit ms, after which a run is killed
 */
export function takeOverPlugin(config: KubeConfig, limit: number): void {
  const user = config.getCurrentUser()
  const settings = user?.exec as PluginSettings | null | undefined
  if (!user || !settings) return
  // The library's own would come first.
  config.users = config.users.map((each) => (each.name === user.name ? { ...each, exec: undefined } : each))
  config.addAuthenticator(new CredentialPlugin(user.name, settings, limit))
}

/** Command of the plugin that gives credentials, for messages; undefined without one. */
export const pluginOf = (config: KubeConfig): string | undefined =>
  (config.getCurrentUser()?.exec as PluginSettings | null | undefined)?.command

class CredentialPlugin implements Authenticator {
  readonly #user: string
  readonly #settings: PluginSettings
  readonly #limit: number
  #credential: PluginCredential | undefined

  constructor(user: string, settings: PluginSettings, limit: number) {
    this.#user = user
    this.#settings = settings
    this.#limit = limit
  }

  isAuthProvider({ name }: User): boolean {
    return name === this.#user
  }

  /** Called by one caller at a time. @throws {Error} for the operator */
  async applyAuthentication(_: User, options: Parameters<Authenticator['applyAuthentication']>[1]): Promise<void> {
    if (!this.#credential || hasExpired(this.#credential))
      this.#credential = credentialIn(await run(this.#settings, this.#limit), this.#settings)
    const { token, clientCertificateData, clientKeyData } = this.#credential
    Object.assign(options, {
      ...(clientCertificateData && { cert: Buffer.from(clientCertificateData) }),
      ...(clientKeyData && { key: Buffer.from(clientKeyData) }),
      headers: { ...options.headers, ...(token && { Authorization: `Bearer ${token}` }) },
    })
  }
}

const hasExpired = ({ expirationTimestamp }: PluginCredential): boolean =>
  expirationTimestamp !== undefined && !(Date.parse(expirationTimestamp) > Date.now())

/** @returns what it prints @throws {Error} with its own words, or that it took too long */
function run({ command = '', args, env, apiVersion }: PluginSettings, limit: number): Promise<string> {
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false } }
  const own = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]))
  const options = {
    timeout: limit,
    killSignal: 'SIGKILL',
    maxBuffer: maxOutput,
    env: { ...process.env, KUBERNETES_EXEC_INFO: JSON.stringify(info), ...own },
  } as const
  return new Promise((resolve, reject) => {
    const child = execFile(command, args ?? [], options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout)
      const why = error.killed ? `it was ended after ${limit / 1_000} s` : stderr.trim().slice(0, 500) || error.message
      reject(new Error(`the credential plugin ${command} of KUBECONFIG failed: ${why}`))
    })
    // One that asks a person reads the end of its input instead of waiting.
    child.stdin?.on('error', () => undefined).end()
  })
}

/** @throws {Error} without its output, which may have a token */
function credentialIn(output: string, { command }: PluginSettings): PluginCredential {
  try {
    const { status } = JSON.parse(output) as { readonly status?: PluginCredential }
    if (status?.token !== undefined || status?.clientCertificateData !== undefined) return status
  } catch {
    // Told below.
  }
  throw new Error(`the credential plugin ${command} of KUBECONFIG printed no credential`)
}
