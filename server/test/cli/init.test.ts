import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseEnv, stripVTControlCharacters } from 'node:util'
import { test, type TestContext } from 'node:test'
import { commandLineProgram } from '@berth/gateway/supervisor/api-program.ts'
import { noEngine, runCommand } from '#test/support/command-line.ts'
import { compileCache } from '#test/support/compile-cache.ts'
import { startMailServer } from '#test/support/mail/mail-server.ts'
import { onlyLong } from '#test/support/extent.ts'

/** The program `berth init`: by flags, and at a terminal. */

interface Report {
  readonly changed: boolean
  readonly secret_files: readonly string[]
  readonly address: string
  readonly findings: readonly { readonly check: string; readonly level: string }[]
  readonly test_mail: { readonly to: string; readonly reason: string | null } | null
}

function folderFor(t: TestContext): { folder: string; file: string; settings: Record<string, string> } {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-init-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return {
    folder,
    file: path.join(folder, 'berth.env'),
    settings: { ...noEngine, DATA_DIR: path.join(folder, 'data') },
  }
}

// Sign-up was open on a domain that others find, where the first who comes is the administrator.
test('on a public domain only invited people sign up unless told otherwise, and an administrator is named', async (t) => {
  const { file, settings } = folderFor(t)
  const flags = ['--file', file, '--domain', 'berth.example.org', '--no-check', '--yes']
  const unnamed = await runCommand(settings, 'init', ...flags)
  assert.notEqual(unnamed.code, 0)
  assert.match(unnamed.stderr, /--admin-emails/)
})

test('by flags a commented file is written, the secret into a file of its own, and a real mail is sent', async (t) => {
  const { folder, file, settings } = folderFor(t)
  const mail = await startMailServer()
  t.after(() => mail.close())
  const flags = ['--domain', 'berth.localhost:8080', '--smtp-url', mail.url, '--sign-up', 'invited']
  const more = ['--admin-emails', 'boss@x.org', '--test-mail', 'boss@x.org', '--json']
  const { code, stdout, stderr } = await runCommand(settings, 'init', '--file', file, ...flags, ...more)
  assert.equal(code, 0, stderr)
  const { changed, secret_files, address, findings, test_mail } = JSON.parse(stdout) as Report
  assert.deepEqual(
    { changed, address, secret_files },
    {
      changed: true,
      address: 'http://berth.localhost:8080',
      secret_files: [path.join(folder, 'smtp-url')],
    },
  )
  assert.deepEqual(test_mail, { to: 'boss@x.org', reason: null })
  assert.ok(mail.received.some(({ text }) => /test mail/.test(text ?? '')))
  assert.deepEqual(
    findings.filter(({ level }) => level === 'critical').map(({ check }) => check),
    ['engine'],
    'what does not answer here',
  )
  const text = readFileSync(file, 'utf8')
  assert.match(text, /^# Base domain of all hosts\..*\n(?:#.*\n)*#BASE_DOMAIN=\nBASE_DOMAIN=berth\.localhost:8080$/m)
  assert.doesNotMatch(text, new RegExp(mail.url))
  assert.equal(readFileSync(path.join(folder, 'smtp-url'), 'utf8'), `${mail.url}\n`)
  for (const each of [file, path.join(folder, 'smtp-url')]) assert.equal(statSync(each).mode & 0o777, 0o600, each)
  const checked = await runCommand({ ...settings, BERTH_ENV_FILE: file }, 'config', 'check', '--json')
  assert.deepEqual((JSON.parse(checked.stdout) as { settings: { problems: string[] } }).settings.problems, [])
})

test('without a terminal each missing flag is named, and nothing is written', async (t) => {
  const { file, settings } = folderFor(t)
  const { code, stderr } = await runCommand(settings, 'init', '--file', file)
  assert.equal(code, 2)
  assert.match(stderr, /--domain <domain>, --smtp-url <url>/)
  const own = ['--scheme', 'https', '--trusted-proxies', 'none', '--domain', 'x.org', '--smtp-url', 'none']
  const second = await runCommand(settings, 'init', '--file', file, ...own)
  assert.match(second.stderr, /--tls-cert-file <file>, --tls-key-file <file>/)
  const oidc = await runCommand(
    settings,
    'init',
    '--file',
    file,
    '--domain',
    'x.org',
    '--smtp-url',
    'none',
    '--sign-in',
    'oidc',
  )
  assert.match(oidc.stderr, /--oidc-providers-file <file>/)
  assert.equal(existsSync(file), false)
})

test('a wrong answer is refused by the name of its setting, and nothing is written', onlyLong, async (t) => {
  const { file, settings } = folderFor(t)
  const flags = ['--domain', 'x.org', '--smtp-url', 'none', '--no-check']
  for (const [wrong, expected] of [
    [['--port', 'x'], /PORT: must be/],
    [['--scheme', 'ftp'], /PREFERRED_URL_SCHEME: must be http or https/],
    [['--set', 'MAX_RUNNING=0'], /MAX_RUNNING: must be/],
    [['--set', 'COLOUR=blue'], /there is no setting COLOUR/],
    [['--templates-file', '/nowhere/templates.yaml'], /CONTAINER_TEMPLATES_FILE/],
  ] as const) {
    const { code, stderr } = await runCommand(settings, 'init', '--file', file, ...flags, ...wrong)
    assert.notEqual(code, 0)
    assert.match(stderr, expected)
  }
  assert.equal(existsSync(file), false)
})

test('a second run changes values in their place: comments, unknown settings, order, mode and link stay', async (t) => {
  const { folder, file, settings } = folderFor(t)
  const real = path.join(folder, 'real.env')
  const before = [
    '# by Ann, do not touch',
    'COLOUR=blue',
    'PORT=9000',
    '',
    'BASE_DOMAIN=x.org # ours',
    'SMTP_URL=smtp://user:old@127.0.0.1',
    "SUPPORT_CONTACT='room 12'",
  ].join('\n')
  writeFileSync(real, before)
  chmodSync(real, 0o640)
  symlinkSync(real, file)
  const changes = ['--port', '9001', '--smtp-url', 'smtp://user:new@127.0.0.1', '--set', 'SUPPORT_CONTACT=']
  const { code, stderr } = await runCommand(settings, 'init', '--file', file, ...changes, '--no-check')
  assert.equal(code, 0, stderr)
  const after = readFileSync(real, 'utf8')
  const secret = path.join(folder, 'smtp-url')
  const expected = before
    .replace('PORT=9000', 'PORT=9001')
    .replace('SMTP_URL=smtp://user:old@127.0.0.1', `SMTP_URL_FILE=${secret}`)
    .replace('SUPPORT', '#SUPPORT')
  assert.ok(after.startsWith(expected), after)
  assert.equal(readFileSync(secret, 'utf8'), 'smtp://user:new@127.0.0.1\n')
  for (const each of [real, secret]) assert.equal(statSync(each).mode & 0o777, 0o640, each)
  assert.doesNotMatch(after, /new@/)
  const again = await runCommand(settings, 'init', '--file', file, '--no-check', '--json')
  assert.equal((JSON.parse(again.stdout) as Report).changed, false)
  assert.equal(readFileSync(real, 'utf8'), after)
})

test('the command that doctor gives for a setting changes this setting alone, also where there is no file yet', async (t) => {
  const { file, settings } = folderFor(t)
  const command = ['init', '--file', file, '--no-check', '--yes', '--set']
  assert.equal((await runCommand(settings, ...command, 'HOST_RULES=auto')).code, 0)
  assert.deepEqual({ ...parseEnv(readFileSync(file, 'utf8')) }, { HOST_RULES: 'auto' })
  assert.equal((await runCommand(settings, ...command, 'TRUSTED_PROXIES=127.0.0.1')).code, 0)
  assert.deepEqual({ ...parseEnv(readFileSync(file, 'utf8')) }, { HOST_RULES: 'auto', TRUSTED_PROXIES: '127.0.0.1' })
})

test('a secret of an own file stays there, and is what the mail is tried with', async (t) => {
  const { folder, file, settings } = folderFor(t)
  const mail = await startMailServer()
  t.after(() => mail.close())
  const secret = path.join(folder, 'mine')
  writeFileSync(secret, `${mail.url}\n`, { mode: 0o600 })
  const flags = [
    '--domain',
    'berth.localhost',
    '--set',
    `SMTP_URL_FILE=${secret}`,
    '--test-mail',
    'a@x.org',
    '--no-check',
  ]
  const { code, stderr } = await runCommand(settings, 'init', '--yes', '--file', file, ...flags)
  assert.equal(code, 0, stderr)
  assert.equal(mail.received.length, 1)
  const { SMTP_URL_FILE, MAIL_FROM, SPAWNER_SUBDOMAIN } = parseEnv(readFileSync(file, 'utf8'))
  const usual = { MAIL_FROM: 'berth@berth.localhost', SPAWNER_SUBDOMAIN: '' }
  assert.deepEqual({ SMTP_URL_FILE, MAIL_FROM, SPAWNER_SUBDOMAIN }, { SMTP_URL_FILE: secret, ...usual })
  assert.deepEqual(readFileSync(secret, 'utf8'), `${mail.url}\n`)
})

test('at a terminal questions have usual answers, a wrong one is asked again, and a secret is not shown', async (t) => {
  const { file, settings } = folderFor(t)
  const answers: [prompt: RegExp, answer: string][] = [
    [/Domain: $/, 'no domain!'],
    [/! BASE_DOMAIN[^]*Domain: $/, 'berth.localhost'],
    [/Subdomain in front of it \[none\]: $/, ''],
    [/Scheme: https or http \[http\]: $/, ''],
    [/Address to listen on \[127\.0\.0\.1\]: $/, ''],
    [/Port to listen on \[8080\]: $/, '8123'],
    [/Mail server: $/, 'smtp://user:hidden-word@127.0.0.1:1'],
    [/Sender of mails \[berth@berth\.localhost\]: $/, ''],
    [/How users sign in.* \[link\]: $/, ''],
    [/Who may register.* \[open\]: $/, 'invited'],
    [/Addresses of administrators: $/, 'boss@x.org'],
    [/code-server, [^]*Templates of the catalogue \[none\]: $/, 'jupyter-lab'],
    [/! CONTAINER_TEMPLATES: [^]*did you mean jupyterlab\?[^]*Templates of the catalogue \[none\]: $/, 'jupyterlab'],
    [/Send a test mail to \[none\]: $/, ''],
    [/all the same\? Type yes to go on: $/, 'yes'],
  ]
  const { code, output } = await atTerminal(settings, ['init', '--file', file], answers)
  assert.equal(code, 0, output)
  assert.match(output, /critical {2}mail server: The mail server does not take mails/)
  assert.match(output, /Written: /)
  assert.doesNotMatch(output, /hidden-word/)
  const { PORT, SIGN_UP, BASE_DOMAIN, CONTAINER_TEMPLATES } = parseEnv(readFileSync(file, 'utf8'))
  assert.deepEqual({ PORT, SIGN_UP, BASE_DOMAIN }, { PORT: '8123', SIGN_UP: 'invited', BASE_DOMAIN: 'berth.localhost' })
  assert.equal(CONTAINER_TEMPLATES, 'jupyterlab')
})

test('Ctrl-C at a question writes nothing', async (t) => {
  const { file, settings } = folderFor(t)
  const { code, output } = await atTerminal(settings, ['init', '--file', file], [[/Domain: $/, '\u0003']])
  assert.notEqual(code, 0)
  assert.match(output, /Nothing was written|interrupted/)
  assert.equal(existsSync(file), false)
})

/** Runs the program at a pseudo terminal (`script`), and gives each answer when its question is there. */
async function atTerminal(
  settings: Record<string, string>,
  args: readonly string[],
  answers: readonly (readonly [RegExp, string])[],
): Promise<{ code: number | null; output: string }> {
  const command = [process.execPath, commandLineProgram(), ...args].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { PATH: process.env.PATH, SHELL: '/bin/sh', TERM: 'xterm', ...compileCache, ...settings },
  })
  let [output, seen, next] = ['', 0, 0]
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
    // Without control sequences, which place the cursor behind the question.
    const shown = stripVTControlCharacters(output.slice(seen)).replaceAll('\r', '')
    const [pattern, answer = ''] = answers[next] ?? []
    if (!pattern?.test(shown)) return
    seen = output.length
    next++
    child.stdin.write(answer === '\u0003' ? answer : `${answer}\r`)
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), 60_000)
  await once(child, 'close')
  clearTimeout(timer)
  return { code: child.exitCode, output }
}
