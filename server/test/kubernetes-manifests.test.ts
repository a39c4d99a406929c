import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { restrictedProblems, schemaProblems } from './support/cluster/api-schemas.ts'

const root = path.join(import.meta.dirname, '../..')

interface Manifest {
  readonly file: string
  readonly object: {
    readonly apiVersion?: string
    readonly kind?: string
    readonly spec?: { readonly template?: { readonly spec?: object }; readonly replicas?: number }
  }
}

/** Without `$patch`, which is a word of kustomize. */
const withoutPatch = (object: object) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== '$patch'))

const manifests: Manifest[] = globSync('deploy/kubernetes*/*.yaml', { cwd: root })
  .toSorted()
  .flatMap((file) =>
    parseAllDocuments(readFileSync(path.join(root, file), 'utf8')).map((document) => ({
      file,
      object: withoutPatch(document.toJS() as object),
    })),
  )

// The cluster of the tests is of 1.20: it takes what later versions have removed.
test('the manifests have kinds and fields of the newest API alone', () => {
  assert.ok(manifests.length > 15, String(manifests.length))
  const problems = manifests.flatMap(({ file, object }) =>
    schemaProblems(object).map((problem) => `${file}: ${problem}`),
  )
  assert.deepEqual(problems, [])
})

test('the pods of Berth are of the level restricted, which their namespace enforces', () => {
  const pods = manifests.flatMap(({ file, object }) => {
    const spec = object.spec?.template?.spec
    // Those of kubernetes-nodes are patches of these.
    return spec && file.startsWith('deploy/kubernetes/') ? [{ file, spec }] : []
  })
  assert.ok(pods.length >= 1)
  for (const { file, spec } of pods) assert.deepEqual(restrictedProblems(spec), [], file)
})

test('a field that is none, a value of another type, and a version that is gone are found', () => {
  const deployment = (spec: object) => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'x' }, spec })
  assert.deepEqual(schemaProblems(deployment({ replicas: 1 })), [])
  assert.deepEqual(schemaProblems(deployment({ replicas: '1' })), ['Deployment.spec.replicas is string, not number'])
  assert.deepEqual(schemaProblems(deployment({ replica: 1 })), ['Deployment.spec.replica is no field'])
  assert.deepEqual(schemaProblems({ apiVersion: 'extensions/v1beta1', kind: 'Ingress' }), [
    'extensions/v1beta1 has no Ingress',
  ])
  assert.deepEqual(restrictedProblems({ hostNetwork: true, containers: [{ name: 'x' }] }), [
    'a namespace of the host',
    'x: may run as root',
    'x: may gain rights',
    'x: no seccomp profile',
    'x: capabilities',
  ])
})
