import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { among, offendersOf, readImports, root, show, sources, type Import } from './support/imports.ts'

/**
 * Who may import whom, read off the import statements, those of types included. docs/explanation/architecture.md says what each
 * workspace and each room is about. Tests may import anything.
 */
const imports = readImports()
const offenders = offendersOf(imports)

/** Workspaces from the outside in: each imports those behind it in this list only. */
const workspaces = ['cli', 'server', 'gateway', 'texts', 'api']

/** Rooms of the server from the outside in: each imports those behind it in this list only. */
const rooms = [
  'start',
  'http',
  'nodes',
  'config',
  'sharing',
  'groups',
  'usage',
  'admin',
  'accounts',
  'homes',
  'containers',
  'templates',
  'engines',
  'refusals',
  'store',
  'machine',
]

/** Programs of the gateway, outside of its folders. */
const gatewayPrograms = ['main.ts', 'gateway-service.ts', 'net-gateway.ts']

/** Folders of the gateway from the outside in, behind its programs: each imports those behind it in this list only. */
const gatewayFolders = [
  'supervisor',
  'link',
  'clients',
  'proxy',
  'access',
  'upstream',
  'pages',
  'http1',
  'tokens',
  'port',
  'basics',
]

test('every import is seen by these rules', () => {
  assert.ok(imports.length > 150, `only ${imports.length} imports found`)
  const [file, target] = ['server/src/start/api-process.ts', 'server/src/start/app.ts']
  assert.ok(imports.some((each) => each.file === file && each.target === target))
})

test('the API definition imports nothing but itself and its schema library', () => {
  assert.deepEqual(
    offenders(({ file, target }) => among(file, 'api/') && !among(target, 'api/', 'typebox')),
    [],
  )
})

test('the web front end knows the API definition and nothing of the programs', () => {
  const programs = workspaces.filter((name) => name !== 'api').map((name) => `${name}/`)
  assert.deepEqual(
    offenders(({ file, target }) => among(file, 'web/') && among(target, ...programs)),
    [],
  )
})

test('of the web front end the server knows its paths only', () => {
  const known = ['web/src/paths.ts', 'web/src/safe-next.ts']
  const isProgram = (file: string) => among(file, ...workspaces.map((name) => `${name}/`))
  assert.deepEqual(
    offenders(({ file, target }) => isProgram(file) && among(target, 'web/') && !known.includes(target)),
    [],
  )
})

test(`a workspace imports only those behind it: ${workspaces.join(', ')}`, () => {
  const place = (file: string) => workspaces.indexOf(file.split('/')[0] ?? '')
  assert.deepEqual(offenders(isUpwards(place)), [])
})

test(`a room of the server imports only those behind it: ${rooms.join(', ')}`, () => {
  assert.deepEqual(offenders(isUpwards(placeOfRoom)), [])
})

test('every file of the server is in a room', () => {
  const files = sources.filter((file) => file.startsWith('server/src/'))
  assert.ok(files.length > 100, `only ${files.length} files found`)
  assert.deepEqual(
    files.filter((file) => placeOfRoom(file) === -1),
    [],
  )
})

test(`a folder of the gateway imports only those behind it: ${gatewayFolders.join(', ')}`, () => {
  assert.deepEqual(offenders(isUpwards(placeInGateway)), [])
})

test('every file of the gateway is in one of these folders, or a program', () => {
  const files = sources.filter((file) => file.startsWith('gateway/src/'))
  assert.ok(files.length > 50, `only ${files.length} files found`)
  assert.deepEqual(
    files.filter((file) => placeInGateway(file) === -1),
    [],
  )
})

test('the adapter of a cluster is loaded by the selection of adapters alone, when the settings ask for it', () => {
  const [cluster, chosen] = ['server/src/engines/kubernetes/', 'server/src/start/adapters.ts']
  const loaded = imports.filter(
    ({ file, target, isTypeOnly }) => among(target, cluster) && !among(file, cluster) && !isTypeOnly,
  )
  assert.deepEqual(
    [...new Set(loaded.map(show))],
    [`${chosen} imports ${cluster}kubernetes-runtime.ts`, `${chosen} imports ${cluster}engine-inspection.ts`],
  )
  assert.match(readFileSync(path.join(root, chosen), 'utf8'), /await import\('#\/engines\/kubernetes\//)
  const library = imports.filter(({ target, isTypeOnly }) => target.startsWith('@kubernetes/') && !isTypeOnly)
  assert.deepEqual(library.map(show), [`${cluster}cluster-access.ts imports @kubernetes/client-node`])
})

/** Whether an import leads to a place before the importer's own. @param place in a list, -1 when a file is not in it */
function isUpwards(place: (file: string) => number): (each: Import) => boolean {
  return ({ file, target }) => place(file) !== -1 && place(target) !== -1 && place(target) < place(file)
}

function placeOfRoom(file: string): number {
  const [, room = ''] = /^server\/src\/([^/]+)\/./.exec(file) ?? []
  return rooms.indexOf(room)
}

/** Programs come before all folders. */
function placeInGateway(file: string): number {
  const [, first = '', rest = ''] = /^gateway\/src\/([^/]+)(\/.)?/.exec(file) ?? []
  if (rest === '') return gatewayPrograms.includes(first) ? 0 : -1
  const place = gatewayFolders.indexOf(first)
  return place === -1 ? -1 : place + 1
}
