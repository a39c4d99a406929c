import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { openClusterAccess } from '#/engines/kubernetes/cluster-access.ts'
import { ClusterClient, type ClusterCall } from '#/engines/kubernetes/cluster-client.ts'
import { testImage } from '../engine/engine.ts'

const run = promisify(execFile)
const scripts = path.resolve(import.meta.dirname, '../../../../tools/cluster')

/** The cluster of `npm run test:cluster`, asked as its administrator. */
export const kubeconfig = process.env.BERTH_TEST_CLUSTER ?? ''

const client = new ClusterClient(await openClusterAccess(kubeconfig))

export type AskCluster = <T = unknown>(method: ClusterCall['method'], target: string, body?: unknown) => Promise<T>

/** @throws {RuntimeError} as the adapter does */
export const askCluster: AskCluster = (method, target, body) => {
  const [path = '', query] = target.split('?')
  return client.ask({
    what: `${method} ${path}`,
    method,
    path,
    body,
    timeout: 10_000,
    ...(query ? { query: Object.fromEntries(new URLSearchParams(query)) } : {}),
  })
}

/** A namespace of its own, and the storage class of the test cluster where there is none. @returns how it is removed */
export async function makeNamespace(name: string): Promise<() => Promise<void>> {
  await askCluster('POST', '/api/v1/namespaces', { metadata: { name } })
  await ensureStorageClass()
  return async () => void (await askCluster('DELETE', `/api/v1/namespaces/${name}`).catch(() => undefined))
}

/**
 * Deletes namespaces, and waits until their names are free: the deployments of two tests have the same.
 * @throws when one is not gone within three minutes
 */
export async function removeNamespaces(...names: readonly string[]): Promise<void> {
  for (const name of names) await askCluster('DELETE', `/api/v1/namespaces/${name}`).catch(() => undefined)
  const list = () => askCluster<{ items: { metadata: { name: string } }[] }>('GET', '/api/v1/namespaces')
  for (const end = performance.now() + 180_000; ; await sleep(500)) {
    const left = (await list()).items.filter(({ metadata }) => names.includes(metadata.name))
    if (left.length === 0) return
    if (performance.now() > end) throw new Error(`these namespaces are not gone: ${JSON.stringify(left)}`)
  }
}

/** The test cluster has none of its own: without it a claim would wait for ever. */
export async function ensureStorageClass(): Promise<void> {
  await askCluster('POST', '/apis/storage.k8s.io/v1/storageclasses', {
    metadata: { name: 'berth-test', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'kubernetes.io/host-path',
  }).catch(() => undefined)
}

/** The image of the tests, given to the nodes of the test cluster; a cluster of others pulls `BERTH_TEST_IMAGE`. */
export async function clusterImage(): Promise<string> {
  if (process.env.BERTH_TEST_IMAGE) return process.env.BERTH_TEST_IMAGE
  const image = await testImage()
  await loadImage(image)
  return image
}

export async function loadImage(image: string): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-image-'))
  try {
    const archive = path.join(folder, 'image.tar')
    await run('docker', ['save', '-o', archive, image])
    await run(path.join(scripts, 'load-images.sh'), [archive])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** An answer that is no JSON. @throws {RuntimeError} as the adapter does */
export async function askClusterText(target: string): Promise<string> {
  const call = { what: `GET ${target}`, method: 'GET', path: target, timeout: 10_000 } as const
  return (await client.download(call, 1024 ** 2)).toString()
}
