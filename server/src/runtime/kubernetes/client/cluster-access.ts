import { existsSync } from 'node:fs'
import path from 'node:path'
import type { KubeConfig } from '@kubernetes/client-node'
import type { Pool } from 'undici'

/** Token of the service account of the pod that Berth runs in. */
const tokenFile = '/var/run/secrets/kubernetes.io/serviceaccount/token'

/** Where a cluster's API server is, and who Berth is to it. */
export interface ClusterAccess {
  /** `https://host:port` */
  readonly server: string
  /** Of the context; `default` where it names none. */
  readonly namespace: string
  readonly connect: NonNullable<Pool.Options['connect']>
  /** Headers that authenticate a request: read for each, because tokens in files rotate. @throws {Error} of a plugin */
  headers(): Promise<Readonly<Record<string, string>>>
}

/**
 * Reads who and where from `KUBECONFIG`, or from the pod that this process runs in. The official library does it, because
 * tokens in files, plugins (`exec`) and rotated certificates are its trade; it is loaded here, so only with this engine.
 * @param kubeconfig one file, or several separated by colons; undefined: the pod's own account
 * @throws {Error} for the operator
 */
export async function openClusterAccess(kubeconfig: string | undefined): Promise<ClusterAccess> {
  const { KubeConfig } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  if (kubeconfig !== undefined) loadFiles(config, () => new KubeConfig(), kubeconfig)
  else if (existsSync(tokenFile)) config.loadFromCluster()
  else
    throw new Error('ENGINE=kubernetes needs KUBECONFIG, or a pod with a service account to run in; there is neither')
  return accessOf(config)
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

async function accessOf(config: KubeConfig): Promise<ClusterAccess> {
  const cluster = config.getCurrentCluster()
  if (!cluster) throw new Error('KUBECONFIG names no current context, or one without a cluster')
  if (cluster.proxyUrl) throw new Error('KUBECONFIG has a proxy-url, which ENGINE=kubernetes does not support')
  const { ca, cert, key, servername, rejectUnauthorized } = await authenticationOf(config)
  return {
    server: cluster.server.replace(/\/+$/, ''),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    connect: {
      ...(ca && { ca }),
      ...(cert && { cert }),
      ...(key && { key }),
      ...(servername && { servername }),
      ...(rejectUnauthorized === undefined ? {} : { rejectUnauthorized }),
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
    },
    headers: async () => {
      const { headers, auth } = await authenticationOf(config)
      const basic = auth ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {}
      return { ...basic, ...headers }
    },
  }
}

/** The library's options for `https`, of which it sets these. */
interface Authentication {
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
  readonly servername?: string
  readonly rejectUnauthorized?: boolean
  /** `user:password` */
  readonly auth?: string
  readonly headers?: Readonly<Record<string, string>>
}

async function authenticationOf(config: KubeConfig): Promise<Authentication> {
  const options: Parameters<KubeConfig['applyToHTTPSOptions']>[0] = {}
  await config.applyToHTTPSOptions(options)
  return options as Authentication
}
