import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parse, parseAllDocuments } from 'yaml'

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

const folder = path.resolve(import.meta.dirname, '../../../../deploy/kubernetes')
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
