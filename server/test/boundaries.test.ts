import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { drawArrows, withArrows } from '../reference/arrows.ts'
import { among, offendersOf, readImports, root, show, sources } from './support/imports.ts'

/**
 * Who may import whom, read off the import statements. The picture is in docs/explanation/architecture.md; this is what holds it.
 * Tests may import anything.
 */
const imports = readImports()
const offenders = offendersOf(imports)

test('every import is seen by these rules', () => {
  assert.ok(imports.length > 150, `only ${imports.length} imports found`)
  assert.ok(imports.some(({ file, target }) => file === 'server/src/start/api-process.ts' && target === 'server/src/start/app.ts'))
})

test('the API definition imports nothing but itself and its schema library', () => {
  assert.deepEqual(
    offenders(({ file, target }) => among(file, 'api/') && !among(target, 'api/', 'typebox')),
    [],
  )
})

test('the web front end knows the API definition and nothing of the server', () => {
  assert.deepEqual(
    offenders(({ file, target }) => among(file, 'web/') && among(target, 'server/')),
    [],
  )
})

test('of the web front end the server knows its paths only', () => {
  const known = ['web/src/paths.ts', 'web/src/safe-next.ts']
  assert.deepEqual(
    offenders(({ file, target }) => among(file, 'server/') && among(target, 'web/') && !known.includes(target)),
    [],
  )
})

/** Folders of the server from the outside in; each may import what stands below it, and types of the ports. */
const [gatewaySettings, gatewayState] = ['gateway/gateway-settings.ts', 'gateway/gateway-state.ts']
/** The ports; of the runtime with the shapes that it speaks of. */
const [gatewayPort, runtimePort] = ['gateway/gateway.ts', 'runtime/runtime']
const gatewayTypes = [gatewayPort, gatewaySettings, gatewayState]
const listening = ['accept-errors.ts', 'node-http.ts']
const allowed: Record<string, string[]> = {
  concurrency: [],
  'data-folder': [],
  tokens: ['ip-address.ts'],
  store: ['concurrency'],
  backup: ['store', 'crash-points.ts', 'data-folder', 'runtime/home-archive.ts', 'runtime/runtime-error.ts'],
  runtime: ['duration-histogram.ts'],
  mail: ['concurrency', 'store/users/magic-links.ts', 'messages'],
  messages: ['tokens'],
  branding: ['time-zone.ts'],
  config: [
    'branding',
    'accounts/oidc/',
    'accounts/sign-up/email-address.ts',
    'accounts/sign-up/sign-up-policy.ts',
    'containers/catalogue',
    'containers/templates',
    'mail',
    'messages',
    'host-label.ts',
    'ip-address.ts',
    'runtime/docker-engine/client/engine-address.ts',
    'secret-file.ts',
    'time-zone.ts',
    'tls-pair.ts',
  ],
  gateway: [
    'duration-histogram.ts',
    'elapsed-time.ts',
    'host-label.ts',
    'ip-address.ts',
    'logging/',
    ...listening,
    'readiness-request.ts',
    'tls-pair.ts',
    'tokens',
    'messages',
  ],
  rpc: gatewayTypes,
  supervisor: ['accept-errors.ts', 'rpc', gatewayPort],
  nodes: [
    'accept-errors.ts',
    'accounts/access-tokens/',
    'accounts/oidc/seal.ts',
    'elapsed-time.ts',
    ...gatewayTypes,
    'rpc',
    runtimePort,
    'store',
  ],
  containers: [
    'store',
    'messages',
    'errors.ts',
    'crash-points.ts',
    'concurrency',
    'data-folder/disk-room.ts',
    'duration-histogram.ts',
    'percentiles.ts',
    'readiness-request.ts',
    'time-zone.ts',
    runtimePort,
    'runtime/container-files.ts',
    'runtime/container-spec.ts',
    'runtime/host-capacity.ts',
    ...gatewayTypes,
  ],
  accounts: [
    'store',
    'messages',
    'errors.ts',
    'crash-points.ts',
    'concurrency',
    'clock-jump-detector.ts',
    'tokens',
    'ip-address.ts',
    'outgoing-request.ts',
    'secret-file.ts',
    'duration-histogram.ts',
    'percentiles.ts',
    'mail/mail-failure-reason.ts',
    'mail/mailer.ts',
    'mail/magic-link-email.ts',
  ],
  logging: [],
  administration: ['store', 'messages', 'errors.ts', 'crash-points.ts', 'concurrency', 'outgoing-request.ts'],
  groups: ['accounts', 'administration', 'concurrency', 'containers', 'errors.ts', 'messages', 'store', 'time-zone.ts'],
  sharing: [
    'accounts',
    'administration',
    'concurrency',
    'containers',
    'errors.ts',
    gatewayState,
    'groups',
    'messages',
    'store',
  ],
  snapshots: [
    'concurrency',
    'containers',
    'crash-points.ts',
    'data-folder/disk-room.ts',
    'errors.ts',
    'messages',
    'runtime/home-contents.ts',
    'runtime/transport/',
    runtimePort,
    'store',
  ],
  'term-end': [
    'logging/',
    'accounts/links/magic-link-token.ts',
    'administration',
    'concurrency',
    'containers',
    'crash-points.ts',
    'data-folder/disk-room.ts',
    'errors.ts',
    'groups',
    'mail/archive-email.ts',
    'mail/magic-link-email.ts',
    'mail/mailer.ts',
    'messages',
    'runtime/home-contents.ts',
    runtimePort,
    'store',
  ],
  usage: [
    'concurrency',
    'containers',
    'errors.ts',
    'groups/group-directory.ts',
    'messages',
    runtimePort,
    'store',
    'time-zone.ts',
  ],
  reconcile: [
    'logging/',
    'store',
    'messages',
    'concurrency',
    'crash-points.ts',
    'accounts',
    'containers',
    runtimePort,
    'runtime/host-capacity.ts',
  ],
  'engine-broker': [
    'containers/templates/allowed-paths.ts',
    ...listening,
    'runtime/container-spec.ts',
    'runtime/docker-engine/client/engine-address.ts',
    'supervisor/stderr-log.ts',
  ],
  cli: [
    'accounts/oidc/',
    'adapters.ts',
    'app.ts',
    'config',
    'ip-address.ts',
    'messages',
    'http/operator-socket.ts',
    gatewayPort,
    'supervisor/run-folder.ts',
    'supervisor/pid-file.ts',
    'mail/check-smtp.ts',
    'backup',
    'crash-points.ts',
    'data-folder/restore-mark.ts',
    'runtime/cluster-inspection.ts',
    'runtime/engine-inspection.ts',
    'runtime/host-capacity.ts',
    'runtime/runtime.ts',
    'runtime/trial-engine.ts',
    'containers/catalogue',
    'containers/starter-files/check-starter-files.ts',
    'containers/templates/read-templates.ts',
    'containers/templates/template',
    'mail/mailer.ts',
    'secret-file.ts',
    'store/check-store.ts',
    'store/nodes/replication.ts',
    'store/data-folder-lock.ts',
    'store/nodes/node-lock.ts',
    'store/transfer/copy-store.ts',
  ],
  wiring: [
    'logging/',
    'accounts',
    'administration',
    'branding',
    'clock-jump-detector.ts',
    'concurrency',
    'config',
    'containers',
    'groups',
    gatewayPort,
    gatewaySettings,
    'http',
    'mail/mailer.ts',
    'mail/magic-link-email.ts',
    'messages',
    'reconcile',
    'nodes/node-report.ts',
    'nodes/reading/reading.ts',
    'reserved-slugs.ts',
    'runtime/runtime.ts',
    'sharing',
    'snapshots',
    'store',
    'term-end',
    'time-zone.ts',
    'usage',
  ],
  http: [
    'branding',
    'logging/',
    'store',
    'messages',
    'errors.ts',
    'concurrency',
    'percentiles.ts',
    'tokens',
    'host-label.ts',
    'ip-address.ts',
    ...listening,
    'accounts',
    'containers',
    'administration',
    'groups',
    'sharing',
    'snapshots',
    'term-end',
    'usage',
    runtimePort,
    'runtime/host-capacity.ts',
  ],
}

for (const [folder, targets] of Object.entries(allowed)) {
  test(`${folder} imports only what stands below it: ${targets.join(', ') || 'nothing of ours'}`, () => {
    const here = `server/src/${folder}/`
    const isAllowed = (target: string) => among(target, here, ...targets.map((each) => `server/src/${each}`))
    assert.deepEqual(
      offenders(({ file, target }) => among(file, here) && among(target, 'server/src/') && !isAllowed(target)),
      [],
    )
  })
}

test('the adapter of a cluster is loaded by the selection of adapters alone, when the settings ask for it', () => {
  const [cluster, chosen] = ['server/src/runtime/kubernetes/', 'server/src/start/adapters.ts']
  const loaded = imports.filter(
    ({ file, target, isTypeOnly }) => among(target, cluster) && !among(file, cluster) && !isTypeOnly,
  )
  assert.deepEqual(
    [...new Set(loaded.map(show))],
    [`${chosen} imports ${cluster}kubernetes-runtime.ts`, `${chosen} imports ${cluster}inspection/inspect-cluster.ts`],
  )
  assert.match(readFileSync(path.join(root, chosen), 'utf8'), /await import\('#\/runtime\/kubernetes\//)
  const library = imports.filter(({ target, isTypeOnly }) => target.startsWith('@kubernetes/') && !isTypeOnly)
  assert.deepEqual(library.map(show), [`${cluster}client/cluster-access.ts imports @kubernetes/client-node`])
})

test('every permission is needed by an import', () => {
  const unneeded = Object.entries(allowed).flatMap(([folder, targets]) =>
    targets
      .filter(
        (each) =>
          !imports.some(
            ({ file, target }) => file.startsWith(`server/src/${folder}/`) && target.startsWith(`server/src/${each}`),
          ),
      )
      .map((each) => `${folder}: ${each}`),
  )
  assert.deepEqual(unneeded, [])
})

test('the arrows in docs/explanation/architecture.md are the imports: "npm run docs:reference" draws them', () => {
  const page = readFileSync(path.join(root, 'docs/explanation/architecture.md'), 'utf8')
  assert.equal(page, withArrows(page, drawArrows(imports)))
})

test('every folder of the server has its rule', () => {
  const folders = new Set(sources.filter((file) => /^server\/src\/.+\//.test(file)).map((file) => file.split('/')[2]))
  assert.deepEqual([...folders].sort(), Object.keys(allowed).sort())
})
