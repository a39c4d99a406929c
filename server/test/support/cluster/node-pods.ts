import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import net from 'node:net'
import { promisify } from 'node:util'
import type { Lifetime } from '../berth.ts'
import { eventually } from '../engine/runtimes.ts'
import { askCluster, kubeconfig, removeNamespaces } from './cluster-api.ts'
import { apply, kustomized } from './deployment.ts'
import type { Manifest } from './manifests.ts'

/** There is no kube-proxy on the own cluster, so the API server has no address inside of it but its own. */
const apiServer = [
  { name: 'KUBERNETES_SERVICE_HOST', value: '10.250.255.2' },
  { name: 'KUBERNETES_SERVICE_PORT', value: '6443' },
]
/** Of this machine, as pods reach it. */
export const hostAddress = '10.250.255.1'

/** `kubectl` as the administrator of the cluster. */
export const kubectl = async (...words: string[]) =>
  (await promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, '-n', 'berth', ...words])).stdout

interface PodSpec {
  readonly containers: readonly { readonly env?: readonly object[] }[]
}

/** The manifest for this cluster: with the image that its nodes have, and in the words of its version. */
function adapted(manifest: Manifest, image: string): Manifest {
  if (manifest.kind === 'PodDisruptionBudget') return { ...manifest, apiVersion: 'policy/v1beta1' }
  if (manifest.kind !== 'Deployment') return manifest
  const { spec, ...rest } = manifest as unknown as { spec: { template: { spec: PodSpec } } }
  const pod = spec.template.spec
  const containers = pod.containers.map((each) => ({ ...each, image, env: [...(each.env ?? []), ...apiServer] }))
  return {
    ...rest,
    spec: { ...spec, template: { ...spec.template, spec: { ...pod, containers } } },
  } as unknown as Manifest
}

/** Applies deploy/kubernetes-nodes. @param settings over those of the files @param secrets of `berth-secrets` */
export async function deployNodes(
  lifetime: Lifetime,
  image: string,
  settings: Readonly<Record<string, string>>,
  secrets: Readonly<Record<string, string>>,
): Promise<void> {
  lifetime.after(() => removeNamespaces('berth', 'berth-containers'))
  const secret = { name: 'berth-secrets', namespace: 'berth' }
  for (const manifest of await kustomized('kubernetes-nodes')) {
    const { data } = manifest as unknown as { data?: Readonly<Record<string, string>> }
    const isSettings = manifest.kind === 'ConfigMap'
    await apply(isSettings ? ({ ...manifest, data: { ...data, ...settings } } as Manifest) : adapted(manifest, image))
    if (manifest.kind === 'Namespace' && manifest.metadata.name === 'berth')
      await apply({ apiVersion: 'v1', kind: 'Secret', metadata: secret, stringData: secrets } as Manifest)
  }
}

interface Endpoints {
  readonly subsets?: readonly { readonly addresses?: readonly { readonly ip: string }[] }[]
}

/** Addresses of the Service, as its load balancer has them. */
export async function readyNodes(): Promise<string[]> {
  const { subsets = [] } = await askCluster<Endpoints>('GET', '/api/v1/namespaces/berth/endpoints/berth')
  return subsets.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip))
}

/** Resolves when so many nodes, and no more, are ready. */
export const untilReady = (count: number) =>
  eventually(async () => assert.equal((await readyNodes()).length, count), 240_000)

/** A WebSocket through one node. */
export interface OpenWebSocket {
  readonly node: string
  /** Why it ended, once it has: the code of the close frame, or `cut`. */
  end(): number | 'cut' | undefined
  close(): void
}

/** @param target of an application that echoes @throws when it is not accepted */
export async function openWebSocket(node: string, target: string, token: string): Promise<OpenWebSocket> {
  const socket = net.connect(8080, node)
  let received = Buffer.alloc(0)
  let end: number | 'cut' | undefined
  socket.on('data', (bytes: Buffer) => (received = Buffer.concat([received, bytes])))
  socket.on('error', () => {})
  socket.on('close', () => (end = received.at(-4) === 0x88 ? received.readUInt16BE(received.length - 2) : 'cut'))
  const lines = ['Host: berth', `Authorization: Bearer ${token}`, 'Connection: Upgrade', 'Upgrade: websocket']
  const handshake = ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
  socket.write(`${[`GET ${target} HTTP/1.1`, ...lines, ...handshake].join('\r\n')}\r\n\r\n`)
  await eventually(async () => assert.match(received.toString('latin1'), /^HTTP\/1\.1 101/), 20_000)
  return { node, end: () => end, close: () => void socket.destroy() }
}
