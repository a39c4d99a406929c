import { existsSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { KubeConfig } from '@kubernetes/client-node'
import type { buildConnector as undici } from 'undici'
import { buildConnector } from '#/engines/transport/connection-pools.ts'
import { withSignal } from '#/machine/try-or-log.ts'
import { pluginOf, takeOverPlugin } from './credential-plugin.ts'

/** Token of the service account of the pod that Berth runs in. */
const tokenFile = '/var/run/secrets/kubernetes.io/serviceaccount/token'
/** How long a plugin, or a provider, may take to give a credential, in ms. */
const usualCredentialTimeout = 20_000

/** Options of a connection, as TLS takes them. */
interface ConnectOptions {
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
  readonly servername?: string
  readonly rejectUnauthorized?: boolean
  readonly keepAlive?: boolean
  /** ms */
  readonly keepAliveInitialDelay?: number
}

/**
 * Where a cluster's API server is, and who Berth is to it: asked for each request and connection, because tokens and
 * certificates in files rotate. Both questions end after 20 s, and share the run of a plugin.
 */
export interface ClusterAccess {
  /** `https://host:port` */
  readonly server: string
  /** Namespace of the context; `default` where it names none. */
  readonly namespace: string
  /** What a new connection needs: authorities, and a certificate of Berth's. @throws {Error} of a plugin */
  connect(): Promise<ConnectOptions>
  /** Headers that authenticate a request. @throws {Error} of a plugin */
  headers(): Promise<Readonly<Record<string, string>>>
  /** The API server has refused the credential: all is read anew for the next request, and a plugin is asked again. */
  renew(): void
}

/**
 * Reads who and where from `KUBECONFIG`, or from the pod that this process runs in. The official library does it,
 * because tokens in files and certificates are its trade; it is loaded here, so only with this engine.
 * @param kubeconfig one file, or several separated by colons; undefined: the pod's own account
 * @param credentialTimeout ms
 * @throws {Error} for the operator, also when a plugin gives no credential in time
 */
export async function openClusterAccess(
  kubeconfig: string | undefined,
  credentialTimeout = usualCredentialTimeout,
): Promise<ClusterAccess> {
  const { KubeConfig } = await import('@kubernetes/client-node')
  const load = () => {
    const config = new KubeConfig()
    if (kubeconfig !== undefined) loadFiles(config, () => new KubeConfig(), kubeconfig)
    else if (existsSync(tokenFile)) config.loadFromCluster()
    else
      throw new Error('ENGINE=kubernetes needs KUBECONFIG, or a pod with a service account to run in; there is neither')
    return credentialsOf(config, credentialTimeout)
  }
  return accessBy(load)
}

function loadFiles(config: KubeConfig, create: () => KubeConfig, kubeconfig: string): void {
  const [first = '', ...others] = kubeconfig.split(path.delimiter).filter((file) => file !== '')
  try {
    config.loadFromFile(first)
    for (const file of others) {
      const more = create()
      more.loadFromFile(file)
      config.mergeConfig(more)
    }
  } catch (error) {
    throw new Error(`KUBECONFIG (${kubeconfig}) cannot be read: ${String(error)}`, { cause: error })
  }
}

async function accessBy(load: () => Credentials): Promise<ClusterAccess> {
  let credentials = load()
  const { config } = credentials
  const cluster = config.getCurrentCluster()
  if (!cluster) throw new Error('KUBECONFIG names no current context, or one without a cluster')
  if (cluster.proxyUrl) throw new Error('KUBECONFIG has a proxy-url, which ENGINE=kubernetes does not support')
  // What does not work is said at the start.
  await credentials.read()
  return {
    server: cluster.server.replace(/\/+$/, ''),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    connect: async () => {
      const { ca, cert, key, servername, rejectUnauthorized } = await credentials.read()
      return {
        ...(ca && { ca }),
        ...(cert && { cert }),
        ...(key && { key }),
        ...(servername && { servername }),
        ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
        keepAlive: true,
        keepAliveInitialDelay: 30_000,
      }
    },
    headers: async () => {
      const { headers, auth } = await credentials.read()
      const basic = auth ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {}
      return { ...basic, ...headers }
    },
    renew: () => {
      try {
        credentials = load()
      } catch {
        // A file that is being written: the next refusal has it read again.
      }
    },
  }
}

/** The credentials of one reading of the files. */
interface Credentials {
  readonly config: KubeConfig
  /** Reads them as they are now; callers at the same time share one reading. @throws {Error} for the operator */
  read(): Promise<Authentication>
}

function credentialsOf(config: KubeConfig, timeout: number): Credentials {
  const plugin = pluginOf(config)
  takeOverPlugin(config, timeout)
  let reading: Promise<Authentication> | undefined
  const read = async () => {
    const limit = new AbortController()
    const source = plugin === undefined ? '' : ` from its plugin ${plugin}`
    const end = () => limit.abort(new Error(`KUBECONFIG: no credential in ${timeout / 1_000} s${source}`))
    const timer = setTimeout(end, timeout)
    try {
      return await withSignal(authenticationOf(config), limit.signal)
    } finally {
      clearTimeout(timer)
      reading = undefined
    }
  }
  return { config, read: () => (reading ??= read()) }
}

/** The library's options for `https`, of which it sets these. */
interface Authentication extends Omit<ConnectOptions, 'keepAlive' | 'keepAliveInitialDelay'> {
  /** `user:password` */
  readonly auth?: string
  readonly headers?: Readonly<Record<string, string>>
}

async function authenticationOf(config: KubeConfig): Promise<Authentication> {
  const options: Parameters<KubeConfig['applyToHTTPSOptions']>[0] = {}
  await config.applyToHTTPSOptions(options)
  return options as Authentication
}

/**
 * Opens connections with the options of the moment, because certificates in files rotate.
 * @param read is called for each connection; what it throws is the failure of the connection
 */
export function connectorOf(read: () => Promise<ConnectOptions>): undici.connector {
  let options: ConnectOptions = {}
  let connect: undici.connector | undefined
  const current = async (): Promise<undici.connector> => {
    const now = await read()
    // One with the same certificates is kept: it can resume sessions of TLS.
    if (connect && isDeepStrictEqual(now, options)) return connect
    options = now
    return (connect = buildConnector({ ...now, allowH2: false }))
  }
  return (target, callback) =>
    void current()
      .then((open) => open(target, callback))
      .catch((error: unknown) => callback(error as Error, null))
}
