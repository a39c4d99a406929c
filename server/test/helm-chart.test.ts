import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { parse, parseAllDocuments } from 'yaml'
import { restrictedProblems, schemaProblems } from './support/cluster/api-schemas.ts'
import { chart, defaults, renderChart, renderTemplate, valuesSchema } from './support/cluster/chart.ts'
import { manifests, manifestsIn, settings, type Manifest } from './support/cluster/manifests.ts'

// The test has no Helm: `chart.ts` renders the part of its language that the chart keeps to.

const root = path.join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, 'deploy', file), 'utf8')
const kustomization = parse(read('kubernetes/kustomization.yaml')) as {
  readonly images: readonly { readonly newName: string; readonly newTag: string }[]
}
const nodes = ['availability', 'deployment', 'without-claim'].flatMap((file) =>
  parseAllDocuments(read(`kubernetes-nodes/${file}.yaml`)).map((document) => document.toJS() as Patch),
)

interface Patch extends Manifest {
  readonly $patch?: 'delete'
}

/** Every object of the chart, with all that values switch on. */
const everything = {
  rights: { ports: true, helpers: true },
  ingress: { enabled: true },
  httpRoute: { enabled: true },
}

/** Kind and name. */
const nameOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`

const configMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'berth-settings', namespace: 'berth' },
  data: settings,
}
/** What `kubectl apply -k deploy/kubernetes` applies, without the namespace of Berth, which `helm install` is told. */
const kustomized: readonly Manifest[] = [
  ...manifests.filter((object) => nameOf(object) !== 'Namespace /berth'),
  configMap,
].map(withImage)

function withImage(object: Manifest): Manifest {
  const { newName, newTag } = kustomization.images[0] ?? {}
  return JSON.parse(JSON.stringify(object).replace('"image":"berth"', `"image":"${newName}:${newTag}"`)) as Manifest
}

/** By kind and name, without what Helm alone reads, and the settings without the hash that both tools add to their name. */
function comparable(objects: readonly Manifest[]): Readonly<Record<string, unknown>> {
  const plain = objects.map((object) => {
    const text = JSON.stringify(object, (_name, value: unknown) => (isNote(value) ? undefined : value))
    return JSON.parse(text.replaceAll(/berth-settings-[0-9a-f]{10}/g, 'berth-settings')) as Manifest
  })
  return Object.fromEntries(plain.map((object) => [nameOf(object), object]))
}

const isNote = (value: unknown) => JSON.stringify(value) === '{"helm.sh/resource-policy":"keep"}'

/** As kustomize merges a patch: lists of named objects by their names, null removes. */
function patched(base: unknown, patch: unknown): unknown {
  if (Array.isArray(base) && Array.isArray(patch)) {
    const named = (list: readonly unknown[]) =>
      new Map((list as { readonly name: string }[]).map((each) => [each.name, each]))
    const [old, own] = [named(base), named(patch)]
    return [...new Set([...old.keys(), ...own.keys()])].map((name) =>
      own.has(name) ? patched(old.get(name) ?? {}, own.get(name)) : old.get(name),
    )
  }
  if (!isObject(base) || !isObject(patch)) return patch
  const merged = Object.entries(patch).map(([name, value]) => [name, patched(base[name], value)] as const)
  return Object.fromEntries([...Object.entries(base), ...merged].filter(([name]) => patch[name] !== null))
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

test('the chart makes the objects of deploy/kubernetes', () => {
  assert.deepEqual(comparable(renderChart()), comparable(kustomized))
})

test('with several nodes it makes those of deploy/kubernetes-nodes', () => {
  const expected = new Map(kustomized.map((object) => [nameOf(object), object]))
  for (const patch of nodes) {
    if (patch.$patch === 'delete') expected.delete(nameOf(patch))
    else expected.set(nameOf(patch), patched(expected.get(nameOf(patch)) ?? {}, patch) as Manifest)
  }
  assert.deepEqual(comparable(renderChart({ nodes: { enabled: true } })), comparable([...expected.values()]))
})

test('rights, Ingress and HTTPRoute are those of the files that are applied by hand', () => {
  const byHand = ['role-of-ports', 'role-of-helpers', 'ingress.example', 'httproute.example']
  const expected = [...kustomized, ...byHand.flatMap((name) => manifestsIn(`${name}.yaml`))]
  assert.deepEqual(comparable(renderChart(everything)), comparable(expected))
})

test('the newest API takes all of it, and the pods are of the level restricted', () => {
  for (const values of [everything, { ...everything, nodes: { enabled: true } }]) {
    const objects = renderChart(values)
    assert.deepEqual(objects.flatMap(schemaProblems), [])
    const pods = objects.flatMap(({ spec }) => (spec?.template?.spec ? [spec.template.spec] : []))
    assert.equal(pods.length, 1)
    assert.deepEqual(pods.flatMap(restrictedProblems), [])
  }
})

test('namespaces, secret, storage, image and settings are those of the values', () => {
  const values = {
    ...everything,
    image: { repository: 'registry.test/b', tag: '7' },
    containers: { namespace: 'rooms', createNamespace: false },
    secretName: 'mine',
    persistence: { storageClass: 'fast' },
    settings: { SUPPORT_CONTACT: 'room "12": yes' },
  }
  const objects = renderChart(values, 'elsewhere')
  const text = JSON.stringify(objects)
  assert.doesNotMatch(text, /berth-containers"?[,}].*namespace":"berth|"namespace":"berth/)
  const namespaces = new Set(objects.map(({ metadata }) => metadata.namespace))
  assert.deepEqual([...namespaces].toSorted(), ['elsewhere', 'rooms'])
  assert.equal(objects.filter(({ kind }) => kind === 'Namespace').length, 0)
  assert.match(text, /"kubernetes.io\/metadata.name":"elsewhere"/)
  assert.match(text, /"image":"registry.test\/b:7"/)
  assert.match(text, /"secretRef":\{"name":"mine"/)
  assert.match(text, /"storageClassName":"fast"/)
  const config = objects.find(({ kind }) => kind === 'ConfigMap')
  assert.equal(config?.data?.SUPPORT_CONTACT, 'room "12": yes')
  assert.equal(config.data.KUBERNETES_NAMESPACE, 'rooms')
  assert.ok(text.includes(`"configMapRef":{"name":"${config.metadata.name}"}`))
  assert.notEqual(config.metadata.name, renderChart().find(({ kind }) => kind === 'ConfigMap')?.metadata.name)
})

test('the schema of the values takes those of the chart, and refuses what is none', () => {
  const takes = new Ajv({ allErrors: true }).compile(valuesSchema)
  assert.ok(takes(defaults), JSON.stringify(takes.errors))
  const wrong: Readonly<Record<string, unknown>> = {
    ingres: {},
    image: { repository: '' },
    nodes: { enabled: 'yes' },
    persistence: { size: '10' },
    containers: { namespace: 'Rooms' },
    // Helm reads a number as a float, and would write 2e+07.
    settings: { BASE_DOMAIN: 'example.org', SESSION_MAX: 20_000_000 },
  }
  for (const [name, value] of Object.entries(wrong)) assert.ok(!takes({ ...defaults, [name]: value }), name)
  const engine = { BASE_DOMAIN: 'example.org', ENGINE: 'docker' }
  assert.ok(!takes({ ...defaults, settings: engine }), 'what the chart sets itself')
})

test('the version of the chart is that of the program', () => {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }
  assert.deepEqual([chart.version, chart.appVersion], [version, version])
})

test('a template with a word that the test does not render, or a value that is not there, is refused', () => {
  const data = { Values: { on: true, list: {}, name: 'x', map: { b: 2, a: 1 } } }
  assert.equal(renderTemplate('a\n  {{- if .Values.on }}\nb\n{{- else }}\nc\n{{- end }}\nd', data), 'a\nb\nd')
  assert.equal(renderTemplate('{{- if not .Values.list }}b{{ else }}c{{ end }}', data), 'b')
  assert.equal(renderTemplate('{{ range $n, $v := .Values.map }}{{ $n }}={{ $v }};{{ end }}', data), 'a=1;b=2;')
  assert.equal(renderTemplate('x: {{- .Values.map | toYaml | nindent 2 }}', { ...data }), 'x:\n  b: 2\n  a: 1')
  for (const template of ['{{ .Values.none }}', '{{ include "x" . }}', '{{ with .Values.map }}{{ end }}'])
    assert.throws(() => renderTemplate(template, data), template)
  assert.throws(() => renderTemplate('{{ end }}', data))
  assert.throws(() => renderTemplate('{{ if .Values.on }}', data))
})
