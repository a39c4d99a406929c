import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { askCluster } from './cluster-api.ts'
import type { Manifest } from './manifests.ts'

const deploy = path.resolve(import.meta.dirname, '../../../../deploy')

/** Objects of a folder of deploy, as `kubectl apply -k` would make them. @throws when there is no kubectl, or the files are wrong */
export async function kustomized(name: string): Promise<Manifest[]> {
  const { stdout } = await promisify(execFile)('kubectl', ['kustomize', path.join(deploy, name)])
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest)
}

/** Where objects of this kind are. @param namespace undefined for kinds that are in none */
export function pathOf({ apiVersion, kind }: Manifest, namespace: string | undefined): string {
  const group = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  const plural = kind === 'NetworkPolicy' ? 'networkpolicies' : `${kind.toLowerCase()}s`
  return `${group}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural}`
}

/** Creates it. @throws {RuntimeError} with the words of the API server */
export async function apply(manifest: Manifest): Promise<void> {
  await askCluster('POST', pathOf(manifest, manifest.metadata.namespace), manifest)
}
