import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

/**
 * Who may import whom, read off the import statements. The picture is in docs/explanation/architecture.md; this is what holds it.
 * Tests may import anything.
 */
const root = path.resolve(import.meta.dirname, '../..')
const sources = globSync('{api,server,web}/src/**/*.{ts,tsx}', { cwd: root }).filter(
  (file) => !/\.test\.tsx?$/.test(file),
)

interface Import {
  readonly file: string
  /** Path from the repository's root for our own files, else the package's name. */
  readonly target: string
  readonly isTypeOnly: boolean
}

const imports: Import[] = sources.flatMap((file) => {
  const text = readFileSync(path.join(root, file), 'utf8')
  const statements = text.matchAll(
    /^(?:import|export)\s+(type\s)?[^'"]*?from\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]/gm,
  )
  const dynamic = text.matchAll(/(?<!\w)import\(['"]([^'"]+)['"]\)/g)
  return [
    ...[...statements].map((match) => ({
      file,
      target: resolve(file, match[2] ?? match[3] ?? ''),
      isTypeOnly: match[1] !== undefined,
    })),
    ...[...dynamic].map((match) => ({ file, target: resolve(file, match[1] ?? ''), isTypeOnly: false })),
  ]
})

function resolve(file: string, specifier: string): string {
  const workspace = file.split('/')[0]
  if (specifier.startsWith('#/')) return `${workspace}/src/${specifier.slice(2)}`
  if (specifier.startsWith('.')) return path.posix.normalize(path.posix.join(path.posix.dirname(file), specifier))
  if (specifier.startsWith('@berth/')) return specifier.replace(/^@berth\/(\w+)\//, '$1/src/')
  return specifier
}

const among = (name: string, ...starts: string[]) => starts.some((start) => name.startsWith(start))
const show = ({ file, target }: Import) => `${file} imports ${target}`
const offenders = (isWrong: (each: Import) => boolean) => imports.filter(isWrong).map(show)

test('every import is seen by these rules', () => {
  assert.ok(imports.length > 150, `only ${imports.length} imports found`)
  assert.ok(imports.some(({ file, target }) => file === 'server/src/api-process.ts' && target === 'server/src/app.ts'))
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
  assert.deepEqual(
    offenders(({ file, target }) => among(file, 'server/') && among(target, 'web/') && target !== 'web/src/paths.ts'),
    [],
  )
})

/** Folders of the server from the outside in; each may import what stands below it, and types of the ports. */
const language = ['language.ts', 'messages']
const allowed: Record<string, string[]> = {
  store: [],
  runtime: [],
  mail: ['store/magic-links.ts', ...language],
  messages: [],
  gateway: ['address-network.ts', 'token-checks.ts', 'token-cookies.ts', ...language],
  processes: ['gateway/gateway.ts'],
  containers: [
    'store',
    ...language,
    'errors.ts',
    'crash-points.ts',
    'attempt.ts',
    'one-at-a-time.ts',
    'spread.ts',
    'runtime/runtime.ts',
    'gateway/gateway.ts',
  ],
  accounts: [
    'store',
    ...language,
    'errors.ts',
    'crash-points.ts',
    'attempt.ts',
    'clock-watch.ts',
    'one-at-a-time.ts',
    'semaphore.ts',
    'token-checks.ts',
    'token-cookies.ts',
    'address-network.ts',
    'spread.ts',
    'mail/failure-reason.ts',
    'mail/mailer.ts',
    'mail/magic-link-message.ts',
  ],
  administration: ['store', ...language, 'errors.ts', 'crash-points.ts', 'semaphore.ts'],
  reconcile: ['store', ...language, 'attempt.ts', 'crash-points.ts', 'accounts', 'containers', 'runtime/runtime.ts'],
  cli: [
    'adapters.ts',
    'app.ts',
    'config.ts',
    'findings.ts',
    'settings-file.ts',
    ...language,
    'http/operator-socket.ts',
    'gateway/gateway.ts',
    'processes/run-folder.ts',
    'processes/whereabouts.ts',
    'mail/check-smtp.ts',
    'store/check-store.ts',
  ],
  wiring: [
    'accounts',
    'administration',
    'app.ts',
    'attempt.ts',
    'clock-watch.ts',
    'config.ts',
    'containers',
    'findings.ts',
    'gateway/gateway.ts',
    'http',
    'reconcile',
    'reserved-slugs.ts',
    'store',
  ],
  http: [
    'store',
    ...language,
    'errors.ts',
    'attempt.ts',
    'spread.ts',
    'token-cookies.ts',
    'cached.ts',
    'address-network.ts',
    'loopback.ts',
    'accounts',
    'containers',
    'administration',
    'runtime/runtime.ts',
    'gateway/gateway.ts',
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

test('every folder of the server has its rule', () => {
  const folders = new Set(sources.filter((file) => /^server\/src\/.+\//.test(file)).map((file) => file.split('/')[2]))
  assert.deepEqual([...folders].sort(), Object.keys(allowed).sort())
})

/** The two processes, and the command line, begin here. */
const programs = ['server/src/main.ts', 'server/src/api-process.ts', 'server/src/cli/main.ts']

test('adapters are chosen in the program files, and in the one that they share, alone', () => {
  const adapters = [
    'server/src/runtime/docker-engine/',
    'server/src/gateway/net/',
    'server/src/mail/smtp.ts',
    'server/src/mail/outbox.ts',
  ]
  const isWrong = ({ file, target }: Import) =>
    among(target, ...adapters) &&
    ![...programs, 'server/src/adapters.ts'].includes(file) &&
    path.posix.dirname(file) !== path.posix.dirname(target) &&
    !among(file, ...adapters)
  assert.deepEqual(offenders(isWrong), [])
})

test('the gateway process loads neither store, engine, settings nor Fastify: what it does not hold cannot leak from it', () => {
  const loaded = new Set(['server/src/main.ts'])
  for (const file of loaded)
    for (const each of imports) if (each.file === file && !each.isTypeOnly) loaded.add(each.target)
  const ours = [
    'server/src/main.ts',
    'server/src/language.ts',
    'server/src/address-network.ts',
    'server/src/token-checks.ts',
    'server/src/token-cookies.ts',
    'server/src/messages/',
    'server/src/gateway/',
    'server/src/processes/',
    'api/src/boot.ts',
  ]
  const mayBeLoaded = [...ours, 'node:', 'jose', 'negotiator']
  assert.ok(loaded.size > 20, `only ${loaded.size} files found`)
  assert.deepEqual(
    [...loaded].filter((target) => !among(target, ...mayBeLoaded)),
    [],
  )
})

test('each library has its one place', () => {
  const places: [RegExp, string[]][] = [
    [/^(kysely|pg|node:sqlite)(\/|$)/, ['server/src/store/']],
    [/^(@?fastify)(\/|$)/, ['server/src/http/']],
    [/^jose$/, ['server/src/accounts/', 'server/src/gateway/net/']],
    [/^nodemailer$/, ['server/src/mail/']],
    [/^(commander|csv-parse)(\/|$)/, ['server/src/cli/']],
    [
      /^(dockerode|docker-modem|undici|httpxy)(\/|$)/,
      ['server/src/runtime/docker-engine/', 'server/src/gateway/builtin/'],
    ],
    [
      /^node:child_process$/,
      ['server/src/main.ts', 'server/src/processes/', 'server/src/runtime/docker-engine/iptables.ts'],
    ],
  ]
  for (const [library, where] of places)
    assert.deepEqual(
      offenders(({ file, target }) => library.test(target) && !among(file, ...where)),
      [],
    )
})

test('the program files alone read the environment and end the process', () => {
  const found = sources.filter(
    (file) => !programs.includes(file) && /process\.(env|exit)\b/.test(readFileSync(path.join(root, file), 'utf8')),
  )
  assert.deepEqual(found, [])
})

test('imports of our own run in no circle', () => {
  const targets = Map.groupBy(
    imports.filter(({ isTypeOnly }) => !isTypeOnly),
    ({ file }) => file,
  )
  const visit = (file: string, trail: readonly string[]): void => {
    if (trail.includes(file)) assert.fail([...trail, file].join(' -> '))
    if (seen.has(file)) return
    for (const { target } of targets.get(file) ?? []) visit(target, [...trail, file])
    seen.add(file)
  }
  const seen = new Set<string>()
  for (const file of sources) visit(file, [])
})
