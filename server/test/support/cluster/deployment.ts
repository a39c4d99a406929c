import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { parse, parseAllDocuments } from 'yaml'
import { askCluster } from './cluster-api.ts'

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules?: readonly Rule[]
}

/** Of a Role. */
export interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
}

const deploy = path.resolve(import.meta.dirname, '../../../../deploy')
const folder = path.join(deploy, 'kubernetes')
const read = (file: string) => readFileSync(path.join(folder, file), 'utf8')

/** Objects of one file of deploy/kubernetes. */
export function manifestsIn(file: string): Manifest[] {
  return parseAllDocuments(read(file)).map((document) => document.toJS() as Manifest)
}

/** Objects of deploy/kubernetes, in the order of its kustomization. */
export const manifests: readonly Manifest[] = (
  parse(read('kustomization.yaml')) as { resources: string[] }
).resources.flatMap((file) => manifestsIn(file))

/** Settings of deploy/kubernetes. */
export const settings: Readonly<Record<string, string>> = Object.fromEntries(
  read('settings.env')
    .split('\n')
    .filter((line) => line.includes('='))
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
)

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
