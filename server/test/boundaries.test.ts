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

/**
 * Rooms of the server from the outside in: each imports those behind it in this list only. The files of a room are its face:
 * what other rooms and other workspaces may import, types included; the rest of it is its own. `*` is every file of the room's
 * own folder, where each file is a subject by itself. A new file belongs here only if the opening module cannot say the same.
 */
const faces: Readonly<Record<string, readonly string[]>> = {
  start: ['adapters.ts', 'app.ts'],
  http: ['open-http.ts', 'open-reader.ts', 'operator-socket.ts'],
  nodes: ['node.ts'],
  config: [
    'config.ts',
    'config-warnings.ts',
    'branding.ts',
    'env-file.ts',
    'settings.ts',
    'setting-values.ts',
    'settings-reload.ts',
  ],
  sharing: ['open-sharing.ts', 'shares.ts'],
  groups: ['open-groups.ts', 'group-administration.ts', 'managed-group.ts'],
  environments: ['open-environments.ts'],
  usage: ['open-usage.ts', 'usage-recorder.ts'],
  admin: ['open-admin.ts', 'admin-lists.ts'],
  // The program of SSH is a process of its own, which `start/ssh-process.ts` opens.
  ssh: ['open-ssh.ts', 'ssh-protocol.ts', 'process/ssh-listener.ts'],
  accounts: [
    'open-accounts.ts',
    'actor.ts',
    'api-tokens.ts',
    'administrator-changes.ts',
    'own-change-limit.ts',
    'ssh-keys.ts',
    'ssh-public-key.ts',
    'mail/link-email.ts',
    'mail/mailer.ts',
    'mail/mail-transport.ts',
    'mail/outbox-mailer.ts',
    'mail/smtp-mailer.ts',
    'oidc/open-provider-sign-in.ts',
    'oidc/provider-discovery.ts',
    'oidc/provider-settings.ts',
    'sessions/open-sessions.ts',
    'sessions/access-token.ts',
    'sessions/begin-session.ts',
    'sessions/revocations.ts',
    'sessions/session-authenticator.ts',
    'sessions/session-list.ts',
    'sessions/signing-keys.ts',
    'sign-up/email-address.ts',
    'sign-up/magic-link.ts',
  ],
  homes: ['open-homes.ts', 'archive-store.ts', 'download-tickets.ts'],
  containers: [
    'open-containers.ts',
    'blocked-containers.ts',
    'container-name.ts',
    'containers-parts.ts',
    'stream-registry.ts',
    'user-events.ts',
    'idle/idle-probe.ts',
    'reconcile/host-check.ts',
    'reconcile/reconciler.ts',
    'routes/own-containers.ts',
    'routes/route-sync.ts',
  ],
  templates: [
    'template.ts',
    'catalogue.ts',
    'fields.ts',
    'field-values.ts',
    'group-directory.ts',
    'launch-rules.ts',
    'parameters.ts',
    'read-templates.ts',
    'replaceable-paths.ts',
    'shared-homes.ts',
    'template-sources.ts',
    'starter-files/file-set.ts',
    'starter-files/file-sources.ts',
    'starter-files/link-files.ts',
    'starter-files/put-starter-files.ts',
  ],
  engines: [
    'runtime.ts',
    'runtime-error.ts',
    'container-spec.ts',
    'container-tool.ts',
    'engine-inspection.ts',
    'home-archive.ts',
    'image-builds.ts',
    'image-store.ts',
    'trial-engine.ts',
    // The adapters, which `start/adapters.ts` chooses.
    'docker/docker-runtime.ts',
    'docker/engine-address.ts',
    'docker/engine-inspection.ts',
    'docker/trial-engine.ts',
    'kubernetes/kubernetes-runtime.ts',
    'kubernetes/engine-inspection.ts',
    'tar/archive-rewrite.ts',
    'tar/checked-archive.ts',
    'tar/first-entry.ts',
    'tar/folder-sizes.ts',
    'tar/move-archive.ts',
    'tar/tar-thread.ts',
  ],
  refusals: ['*'],
  store: ['*', 'open/copy-before-migration.ts', 'open/copy-store.ts'],
  machine: ['*'],
}

const rooms = Object.keys(faces)

/** Programs of the gateway, outside of its folders. */
const gatewayPrograms = ['main.ts', 'gateway-service.ts', 'net-gateway.ts']

/** Folders of the gateway from the outside in, behind its programs: each imports those behind it in this list only. */
const gatewayFolders = [
  'supervisor',
  'rpc',
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

test('what a room does not show is imported by the room itself alone', () => {
  const isOfRoom = (file: string, target: string) => file.startsWith(`server/src/${roomOf(target)}/`)
  assert.deepEqual(
    offenders(({ file, target }) => roomOf(target) !== '' && !isOfRoom(file, target) && !isShown(target)),
    [],
  )
})

test('what a room shows is there', () => {
  const named = Object.entries(faces).flatMap(([room, files]) =>
    files.filter((file) => file !== '*').map((file) => `server/src/${room}/${file}`),
  )
  assert.deepEqual(
    named.filter((file) => !sources.includes(file)),
    [],
  )
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

test('the adapter of a cluster is loaded by the selection of adapters and the SSH process alone, when the settings ask for it', () => {
  const [cluster, chosen] = ['server/src/engines/kubernetes/', 'server/src/start/adapters.ts']
  const loaded = imports.filter(
    ({ file, target, isTypeOnly }) => among(target, cluster) && !among(file, cluster) && !isTypeOnly,
  )
  assert.deepEqual(
    [...new Set(loaded.map(show))],
    [
      `${chosen} imports ${cluster}kubernetes-runtime.ts`,
      `${chosen} imports ${cluster}engine-inspection.ts`,
      `server/src/start/ssh-process.ts imports ${cluster}kubernetes-runtime.ts`,
    ],
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
  return rooms.indexOf(roomOf(file))
}

/** Room of a file of the server, and else an empty string. */
const roomOf = (file: string): string => /^server\/src\/([^/]+)\/./.exec(file)?.[1] ?? ''

/** Whether a file is in the face of its room. */
function isShown(file: string): boolean {
  const face = faces[roomOf(file)] ?? []
  const inRoom = file.split('/').slice(3).join('/')
  return face.includes(inRoom) || (face.includes('*') && !inRoom.includes('/'))
}

/** Programs come before all folders. */
function placeInGateway(file: string): number {
  const [, first = '', rest = ''] = /^gateway\/src\/([^/]+)(\/.)?/.exec(file) ?? []
  if (rest === '') return gatewayPrograms.includes(first) ? 0 : -1
  const place = gatewayFolders.indexOf(first)
  return place === -1 ? -1 : place + 1
}
