import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { among, offendersOf, readImports, root, show, sources, type Import } from './support/imports.ts'

/** What a process loads, and where libraries and adapters are imported, read off the import statements. */
const imports = readImports()
const offenders = offendersOf(imports)

const programs = [
  'gateway/src/main.ts',
  'gateway/src/gateway-service.ts',
  'server/src/start/api-process.ts',
  'server/src/start/ssh-process.ts',
  'server/src/engines/broker/main.ts',
  'cli/src/main.ts',
]

/** Runs in a container of its own, and gets nothing but its environment. */
const hostileProgram = 'cli/src/attack/hostile-app.ts'

/** Runs a program of the operator, which gets the environment of Berth and what KUBECONFIG adds to it. */
const credentialPlugin = 'server/src/engines/kubernetes/credential-plugin.ts'

test('adapters are chosen in the program files, and in the one that they share, alone', () => {
  const adapters = [
    'server/src/engines/docker/',
    'gateway/src/net-gateway.ts',
    'server/src/accounts/mail/smtp-mailer.ts',
    'server/src/accounts/mail/outbox-mailer.ts',
  ]
  // It reads an address, and settings are checked by it.
  const isParser = (target: string) => target === 'server/src/engines/docker/engine-address.ts'
  const isWrong = ({ file, target }: Import) =>
    among(target, ...adapters) &&
    !isParser(target) &&
    ![...programs, 'server/src/start/adapters.ts'].includes(file) &&
    path.posix.dirname(file) !== path.posix.dirname(target) &&
    !among(file, ...adapters)
  assert.deepEqual(offenders(isWrong), [])
})

test('the gateway process loads neither store, engine, settings nor Fastify: what it does not hold cannot leak from it', () => {
  const loaded = new Set(['gateway/src/main.ts', 'gateway/src/gateway-service.ts'])
  for (const file of loaded)
    for (const each of imports) if (each.file === file && !each.isTypeOnly) loaded.add(each.target)
  const ours = ['gateway/src/', 'texts/src/', 'api/src/boot.ts']
  const mayBeLoaded = [...ours, 'node:', 'jose', 'negotiator']
  assert.ok(loaded.size > 20, `only ${loaded.size} files found`)
  assert.deepEqual(
    [...loaded].filter((target) => !among(target, ...mayBeLoaded)),
    [],
  )
})

test('no process of a service imports values of node:http by name, which makes Node load its own copy of undici', () => {
  const isWrong = ({ file, target, isTypeOnly }: Import) =>
    target === 'node:http' && !isTypeOnly && !among(file, 'cli/src/')
  assert.deepEqual(offenders(isWrong), [])
})

test('handlers ask use cases, never the store', () => {
  // `mailboxOf` is a pure function of an address.
  const isPure = ({ file, target }: Import) =>
    file.endsWith('/auth-handlers.ts') && target === 'server/src/store/magic-links.ts'
  const isWrong = (each: Import) =>
    among(each.file, 'server/src/http/handlers/') &&
    among(each.target, 'server/src/store/') &&
    (!each.isTypeOnly || each.target.endsWith('/database.ts')) &&
    !isPure(each)
  assert.deepEqual(offenders(isWrong), [])
})

test('each library has its one place', () => {
  const places: [RegExp, string[]][] = [
    [/^(kysely|pg|node:sqlite)(\/|$)/, ['server/src/store/']],
    [/^(@?fastify)(\/|$)/, ['server/src/http/']],
    [/^jose$/, ['server/src/accounts/', 'gateway/src/tokens/']],
    [/^openid-client$/, ['server/src/accounts/oidc/']],
    [/^nodemailer$/, ['server/src/accounts/mail/']],
    [/^(commander|@commander-js\/extra-typings|csv-parse)(\/|$)/, ['cli/src/']],
    [/^age-encryption$/, ['cli/src/backup/backup-format.ts']],
    [/^tldts$/, ['cli/src/doctor/']],
    [/^ssh2$/, ['server/src/ssh/process/', 'cli/src/attack/ssh-attempts.ts', 'cli/src/doctor/check-ssh.ts']],
    [/^undici$/, ['server/src/engines/kubernetes/cluster-access.ts', 'server/src/engines/transport/']],
    [
      /^node:child_process$/,
      [
        'gateway/src/main.ts',
        'gateway/src/supervisor/',
        'server/src/engines/docker/host-rules.ts',
        'server/src/machine/answering-paths.ts',
        'server/src/machine/mounts.ts',
        'server/src/ssh/ssh-process-handle.ts',
        credentialPlugin,
        'cli/src/backup/restore-backup.ts',
        'server/src/templates/starter-files/fetch-repository.ts',
        hostileProgram,
        'cli/src/doctor/check-host.ts',
        'cli/src/try/chromium.ts',
      ],
    ],
  ]
  for (const [library, where] of places) {
    const found = imports.filter(({ target }) => library.test(target))
    assert.deepEqual(found.filter(({ file }) => !among(file, ...where)).map(show), [])
    for (const place of where)
      assert.ok(
        found.some(({ file }) => file.startsWith(place)),
        `no import in ${place} needs its permission for ${library}`,
      )
  }
})

test('the program files alone read the environment and end the process', () => {
  const found = sources.filter(
    (file) =>
      ![...programs, hostileProgram, credentialPlugin].includes(file) &&
      /process\.(env|exit)\b/.test(readFileSync(path.join(root, file), 'utf8')),
  )
  assert.deepEqual(found, [])
})
