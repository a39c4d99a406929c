import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { isTimeZone } from '#/machine/time-zone.ts'
import { good, read } from '#test/support/read-settings.ts'
import { addressesFor, smtpHeloName } from './config.ts'

test('without any setting the defaults hold', () => {
  const config = good({})
  assert.equal(config.host, '127.0.0.1')
  assert.equal(config.port, 8080)
  assert.equal(config.accessTokenExpires, 3600)
  assert.equal(config.magicLinkExpiry, 900)
  assert.equal(config.magicLinksPerHour, 3)
  assert.equal(config.retireAfter, 14 * 86_400)
  assert.deepEqual(config.templates.types, ['dev', 'prod'])
  assert.equal(config.templates.first.home, '/home/berth')
})

test('containers run on Docker unless ENGINE says otherwise, and other settings of a cluster are read with it only', () => {
  assert.equal(good({ KUBECONFIG: '/etc/berth/kubeconfig', KUBERNETES_NAMESPACE: 'Not A Name' }).kubernetes, null)
  const cluster = {
    KUBECONFIG: '/k',
    KUBERNETES_NAMESPACE: 'berth',
    KUBERNETES_STORAGE_CLASS: 'fast.ssd',
    KUBERNETES_HELPER_IMAGE: 'busybox:1.36',
    KUBERNETES_TOOL_IMAGE: 'berth:1',
  }
  assert.deepEqual(good({ ENGINE: 'kubernetes', ...cluster }, { '/k': '' }).kubernetes, {
    kubeconfig: '/k',
    namespace: 'berth',
    storageClass: 'fast.ssd',
    helperImage: 'busybox:1.36',
    // Without SSH no pod has anything of it.
    toolImage: null,
  })
  const withSsh = good({ ENGINE: 'kubernetes', ...cluster, SSH_LISTEN: '0.0.0.0:2222' }, { '/k': '' })
  assert.equal(withSsh.kubernetes?.toolImage, 'berth:1')
  assert.deepEqual(good({ ENGINE: 'kubernetes' }).kubernetes, {
    kubeconfig: undefined,
    namespace: null,
    storageClass: null,
    helperImage: null,
    toolImage: null,
  })
  const wrong = {
    ENGINE: 'kubernetes',
    KUBERNETES_NAMESPACE: 'Berth',
    KUBERNETES_STORAGE_CLASS: 'a b',
    KUBERNETES_HELPER_IMAGE: 'a b',
  }
  assert.match(read(wrong).problems.join(), /KUBERNETES_NAMESPACE.*KUBERNETES_STORAGE_CLASS.*KUBERNETES_HELPER_IMAGE/)
  assert.match(read({ ENGINE: 'podman' }).problems.join(), /ENGINE: must be docker or kubernetes/)
})

test('RETIRE_AFTER is a number of seconds, and 0 retires nothing', () => {
  assert.equal(good({ RETIRE_AFTER: '0' }).retireAfter, 0)
  assert.equal(good({ RETIRE_AFTER: '86400' }).retireAfter, 86_400)
  assert.match(read({ RETIRE_AFTER: '14d' }).problems.join(), /RETIRE_AFTER/)
})

// With a limit of 1,000 an hour an address got a hundred: its mailbox, which is the same, had no more.
test('the limit of a mailbox is never less than that of an address', () => {
  assert.equal(good({}).mailboxLinksPerHour, 100)
  assert.equal(good({ MAGIC_LINK_RATE_LIMIT: '1000' }).mailboxLinksPerHour, 10_000)
  const { problems } = read({ MAGIC_LINK_RATE_LIMIT: '30', MAILBOX_RATE_LIMIT: '20' })
  assert.deepEqual(problems, ['MAILBOX_RATE_LIMIT: must be a whole number from 30 to 10000000000'])
})

test('limits of links may be so large that there are none', () => {
  const config = good({ MAGIC_LINK_RATE_LIMIT: '1000000000' })
  assert.deepEqual([config.magicLinksPerHour, config.mailboxLinksPerHour], [1_000_000_000, 10_000_000_000])
  assert.equal(good({ MAILBOX_RATE_LIMIT: '10000000000' }).mailboxLinksPerHour, 10_000_000_000)
  for (const text of ['1000000001', '99999999999999999999', '1e9'])
    assert.deepEqual(read({ MAGIC_LINK_RATE_LIMIT: text }).problems, [
      'MAGIC_LINK_RATE_LIMIT: must be a whole number from 1 to 1000000000',
    ])
})

test('all problems are reported at once, each with the name of its variable', () => {
  const { problems } = read({
    PORT: 'http',
    JWT_ACCESS_TOKEN_EXPIRES: '-1',
    MAGIC_LINK_RATE_LIMIT: '0',
    PREFERRED_URL_SCHEME: 'ftp',
    TRUSTED_PROXIES: '10.0.0.0/8, nonsense',
    LOG_LEVEL: 'loud',
    DATABASE_URL: 'mysql://x',
    CONTAINER_TEMPLATES: '{"dev": {"image": "x", "colour": "red", "memory": "lots"}}',
  })
  for (const name of [
    'PORT',
    'JWT_ACCESS_TOKEN_EXPIRES',
    'MAGIC_LINK_RATE_LIMIT',
    'PREFERRED_URL_SCHEME',
    'TRUSTED_PROXIES',
    'LOG_LEVEL',
    'DATABASE_URL',
  ]) {
    assert.ok(
      problems.some((problem) => problem.startsWith(`${name}:`)),
      name,
    )
  }
  assert.ok(problems.some((problem) => problem.includes('unknown field "colour"')))
  assert.ok(problems.some((problem) => problem.includes('dev: memory must be')))
})

/**
 * Values with which Berth started, and then did not do what they were meant for, or ended with the next problem alone.
 */
const useless: readonly (readonly [setting: string, value: string, words: RegExp])[] = [
  ['FRONTEND_URL', 'http://x.org/app?x=1', /must be an address without "\?"/],
  ['FRONTEND_URL', 'https://x.org/#app', /must be an address without "\?", "#"/],
  ['FRONTEND_URL', 'https://ann:secret@x.org', /must be an address without .* user name and password/],
  ['ALLOWED_EMAIL_DOMAINS', ',', /must name a domain such as example\.org/],
  ['ADMIN_EMAILS', 'Ann <ann@x.org>; bob@x.org', /"ann <ann@x\.org>; bob@x\.org" is not an address such as/],
  ['ADMIN_EMAILS', 'ann@x.org,bob', /"bob" is not an address .* separated by commas/],
  ['SMTP_URL', 'smtp://', /must name a mail server/],
  ['SMTP_URL', 'smtps:', /must name a mail server/],
  ['SMTP_URL', 'mail.x.org', /must be an address that begins with smtp:\/\//],
  ['MAIL_FROM', 'nonsense', /must be an address such as berth@example\.org/],
  ['MAIL_FROM', 'Berth <>', /must be an address such as/],
  ['HOST', 'no such host!', /must be an address of this machine/],
  ['HOST', '127.0.0.1:8080', /must be an address of this machine/],
  ['DOCKER_HOST', 'foo bar', /must look like unix:\/\/\/path or tcp:\/\/host:port/],
  ['KUBECONFIG', '/k:/nowhere', /\/nowhere cannot be read: no such file/],
]

test('settings that cannot do what they are for are reported at the start, all at once', () => {
  for (const [setting, value, words] of useless) {
    const { problems } = read({ [setting]: value, ENGINE: setting === 'KUBECONFIG' ? 'kubernetes' : '' }, { '/k': '' })
    assert.equal(problems.length, 1, `${setting}=${value}`)
    assert.ok(problems[0]?.startsWith(`${setting}: `) && words.test(problems[0]), problems[0])
  }
  const each = Object.fromEntries(useless.filter(([setting]) => setting !== 'KUBECONFIG'))
  assert.equal(read(each).problems.length, Object.keys(each).length)
  assert.doesNotMatch(read({ FRONTEND_URL: 'https://ann:secret@x.org' }).problems.join(), /secret/)
})

test('every other form in which these settings work is accepted', () => {
  const right: readonly (readonly [setting: string, ...values: string[]])[] = [
    ['FRONTEND_URL', 'https://x.org/app', 'http://x.org/@app/', 'http://[::1]:8080'],
    ['ALLOWED_EMAIL_DOMAINS', '', ' ', 'x.org,'],
    ['ADMIN_EMAILS', '', ' Ann@x.org , bob+berth@x.org,', ','],
    ['SMTP_URL', 'smtp://mail', 'smtp:mail.x.org', 'smtps://ann:p%40ss@[::1]:465', 'SMTP://u@mail:25?x=1'],
    ['MAIL_FROM', 'berth@localhost', 'Berth\n<b@x.org>', '"Desk, room 1" <b@x.org>', '"a b"@x.org', 'büro@müller.de'],
    ['HOST', '', '::', 'fe80::1%eth0', 'localhost', 'my_host.local.', 'müller.local'],
    ['DOCKER_HOST', '', 'unix:///run/docker.sock', 'tcp://engine:2375', 'https://engine:2376'],
    ['DATABASE_URL', 'postgres://', 'postgres:///berth?host=/var/run/postgresql', 'postgresql://db/berth'],
  ]
  for (const [setting, ...values] of right)
    for (const value of values) assert.deepEqual(read({ [setting]: value }).problems, [], `${setting}=${value}`)
  assert.deepEqual([...good({ ADMIN_EMAILS: ' Ann@x.org , bob@x.org,' }).adminEmails], ['ann@x.org', 'bob@x.org'])
  // A shell has it for the client of Docker.
  assert.deepEqual(read({ ENGINE: 'kubernetes', DOCKER_HOST: 'ssh://host' }).problems, [])
})

test('whether mail needs TLS is left to where its server is, or said', () => {
  assert.equal(good({}).smtpTls, null)
  assert.equal(good({ SMTP_TLS: 'opportunistic' }).smtpTls, 'opportunistic')
  assert.match(read({ SMTP_TLS: 'none' }).problems.join(), /^SMTP_TLS: must be required or opportunistic/)
})

test('mail servers are told the host of the addresses in mails, or the name in SMTP_HELO_NAME', () => {
  const named = (env: Record<string, string>) => smtpHeloName(good(env))
  assert.equal(named({ BASE_DOMAIN: 'example.org:8443' }), 'spawner.example.org')
  assert.equal(named({ FRONTEND_URL: 'https://start.example.org' }), 'start.example.org')
  assert.equal(named({ FRONTEND_URL: 'http://192.0.2.1:8080' }), '[192.0.2.1]')
  assert.equal(named({ FRONTEND_URL: 'http://[2001:db8::1]:8080' }), '[IPv6:2001:db8::1]')
  assert.equal(named({ BASE_DOMAIN: 'example.org', SMTP_HELO_NAME: 'out.example.org' }), 'out.example.org')
  assert.equal(named({ SMTP_HELO_NAME: '[192.0.2.1]' }), '[192.0.2.1]')
  for (const name of ['a b', 'x.org\r\nMAIL', '-x', '[x]', '192.0.2.1]', 'ä.org'])
    assert.match(read({ SMTP_HELO_NAME: name }).problems.join(), /^SMTP_HELO_NAME: must be a host name/, name)
})

test('trusted proxies are addresses and networks', () => {
  assert.deepEqual(good({ TRUSTED_PROXIES: '10.0.0.0/8, ::1' }).trustedProxies, ['10.0.0.0/8', '::1'])
  for (const wrong of ['proxy', '10.0.0.0/33', '10.0.0.0/8/8', '::1/129', '10.0.0.0/'])
    assert.match(read({ TRUSTED_PROXIES: wrong }).problems.join(), /TRUSTED_PROXIES/)
})

test('METRICS_LISTEN is an address with a port, METRICS_TOKEN what a header can carry, and neither is repeated in a problem', () => {
  const config = good({ METRICS_LISTEN: '[::1]:9100', METRICS_TOKEN: 'prometheus' })
  assert.deepEqual(config.metricsListen, { host: '::1', port: 9100, text: '[::1]:9100' })
  assert.equal(good({ METRICS_LISTEN: '127.0.0.1:9100' }).metricsListen?.host, '127.0.0.1')
  for (const wrong of ['9100', ':9100', 'x:', 'x:0', 'x:70000', '::1:9100', 'http://x:1'])
    assert.match(read({ METRICS_LISTEN: wrong }).problems.join(), /^METRICS_LISTEN: must be host:port/, wrong)
  for (const wrong of ['two words', 'ümläute!', 'x'.repeat(513)])
    assert.match(read({ METRICS_TOKEN: wrong }).problems.join(), /^METRICS_TOKEN: must be at most 512 visible/)
  assert.doesNotMatch(read({ METRICS_TOKEN: 'two words' }).problems.join(), /two/)
})

test('who may sign up is open to all unless it is set, and a wrong setting is reported in a sentence', () => {
  const config = good({})
  assert.equal(config.signUp, 'open')
  assert.equal(config.allowedEmailDomains, null)
  assert.deepEqual(good({ ALLOWED_EMAIL_DOMAINS: 'Example.org, *.school.edu' }).allowedEmailDomains, [
    'example.org',
    '*.school.edu',
  ])
  const { problems } = read({ ALLOWED_EMAIL_DOMAINS: '*.x.org, @x.org', SIGN_UP: 'closed', ENUMERATION_STRICT: 'yes' })
  assert.deepEqual(problems, [
    'ENUMERATION_STRICT: must be 0 or 1',
    'SIGN_UP: must be open or invited',
    'ALLOWED_EMAIL_DOMAINS: "@x.org" is not a domain such as example.org or *.example.org',
  ])
})

test('the contact for help is one line of text of at most 200 characters, or none', () => {
  assert.equal(good({}).supportContact, null)
  for (const value of [
    'help@example.org',
    'https://example.org/help',
    'Zimmer 12, Telefon 34',
    '\u{1f600}'.repeat(200),
  ])
    assert.equal(good({ SUPPORT_CONTACT: ` ${value} ` }).supportContact, value)
  for (const value of ['x'.repeat(201), 'two\nlines', 'a\u0000b'])
    assert.match(read({ SUPPORT_CONTACT: value }).problems.join(), /^SUPPORT_CONTACT: must be/)
})

test('the contact for security is a mail address or a page by https', () => {
  assert.equal(good({}).securityContact, null)
  assert.equal(good({ SECURITY_CONTACT: 'security@example.org' }).securityContact, 'mailto:security@example.org')
  assert.equal(
    good({ SECURITY_CONTACT: 'https://example.org/security' }).securityContact,
    'https://example.org/security',
  )
  for (const value of ['http://example.org/security', 'room 12', 'mailto:', 'a@b\nContact: c@d'])
    assert.match(read({ SECURITY_CONTACT: value }).problems.join(), /^SECURITY_CONTACT: must be/)
})

test('AUDIT_WEBHOOK_URL is https or this machine, AUDIT_WEBHOOK_SECRET one or more secrets, and neither is repeated in a problem', () => {
  const secret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`
  const right = { AUDIT_WEBHOOK_URL: 'https://siem.example.org/berth?key=hidden', AUDIT_WEBHOOK_SECRET: secret(24) }
  assert.equal(good(right).auditWebhook?.secrets[0]?.length, 24)
  assert.equal(good({}).auditWebhook, null)
  assert.equal(good({ ...right, AUDIT_WEBHOOK_URL: 'http://[::1]:8/x' }).auditWebhook?.url, 'http://[::1]:8/x')
  assert.equal(good({ ...right, AUDIT_WEBHOOK_SECRET: `${secret(64)} ${secret(32)}` }).auditWebhook?.secrets.length, 2)
  for (const url of ['http://siem.example.org/hidden', 'ftp://x/hidden', 'hidden', 'https://hidden:pass@x/'])
    assert.match(read({ ...right, AUDIT_WEBHOOK_URL: url }).problems.join(), /^AUDIT_WEBHOOK_URL: must (?!.*hidden)/)
  for (const wrong of ['hidden', secret(23), secret(65), `${secret(24)} hidden`, 'whsec_hidden!'])
    assert.match(
      read({ ...right, AUDIT_WEBHOOK_SECRET: wrong }).problems.join(),
      /^AUDIT_WEBHOOK_SECRET: must be whsec_(?!.*hidden)/,
    )
  for (const one of ['AUDIT_WEBHOOK_URL', 'AUDIT_WEBHOOK_SECRET'] as const)
    assert.match(read({ [one]: right[one] }).problems.join(), /set both, or neither/)
})

test('ACCESS_LOG is off, common or json; its file is a path from the working directory', () => {
  assert.equal(good({}).accessLog, null)
  assert.equal(good({ ACCESS_LOG: 'off', ACCESS_LOG_FILE: '/x' }).accessLog, null)
  assert.deepEqual(good({ ACCESS_LOG: 'common' }).accessLog, { format: 'common', file: null })
  assert.deepEqual(good({ ACCESS_LOG: 'json', ACCESS_LOG_FILE: '/var/log/x' }).accessLog, {
    format: 'json',
    file: '/var/log/x',
  })
  assert.match(read({ ACCESS_LOG: 'combined' }).problems.join(), /^ACCESS_LOG: must be off, common or json/)
})

test('OTEL_EXPORTER_OTLP_ENDPOINT switches traces on; the settings beside it are as OpenTelemetry has them', () => {
  const endpoint = 'http://127.0.0.1:4318'
  const on = { OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/` }
  assert.equal(good({}).tracing, null)
  assert.deepEqual(good(on).tracing, { endpoint, headers: {}, serviceName: 'berth', ratio: 1 })
  const given = { OTEL_SERVICE_NAME: 'class', OTEL_TRACES_SAMPLER_ARG: '0.25' }
  const headers = { OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20YTpi=, x-scope=1' }
  assert.deepEqual(good({ ...on, ...given, ...headers }).tracing, {
    endpoint,
    headers: { authorization: 'Basic YTpi=', 'x-scope': '1' },
    serviceName: 'class',
    ratio: 0.25,
  })
  for (const wrong of ['hidden', 'a b=hidden', 'a=hidden%0d%0ab', 'a=%hidden', 'a=b,'])
    assert.match(
      read({ ...on, OTEL_EXPORTER_OTLP_HEADERS: wrong }).problems.join(),
      /^OTEL_EXPORTER_OTLP_HEADERS: must be name=value(?!.*hidden)/,
    )
  for (const wrong of ['1.1', '-1', 'all'])
    assert.match(read({ ...on, OTEL_TRACES_SAMPLER_ARG: wrong }).problems.join(), /must be a number from 0 to 1/)
  assert.match(
    read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }).problems.join(),
    /^OTEL_EXPORTER_OTLP_ENDPOINT: /,
  )
})

test('NODE_ADDRESS needs PostgreSQL, and says all that is missing at once', () => {
  const whole = {
    NODE_ADDRESS: '10.0.0.5:7070',
    DATABASE_URL: 'postgres://db/berth',
  }
  assert.equal(good({}).node, null)
  assert.equal(good(whole).node?.address.text, '10.0.0.5:7070')
  assert.equal(good(whole).node?.secret, null)
  assert.equal(good({ ...whole, NODE_SECRET: 's'.repeat(32) }).node?.secret, 's'.repeat(32))
  const { problems } = read({ NODE_ADDRESS: 'here', NODE_SECRET: 'short' })
  for (const words of [/host:port/, /DATABASE_URL=postgres/, /NODE_SECRET to at least 32/])
    assert.match(problems.join('\n'), words)
})

test('SHARING names people, groups or both, and is off when it is not set', () => {
  const sharingOf = (env: Record<string, string>) => read(env).config?.sharing
  assert.deepEqual(sharingOf({}), { isOn: false, withPeople: false, withGroups: false, maxDuration: 2_592_000 })
  assert.deepEqual(sharingOf({ SHARING: 'groups, people', SHARE_MAX_DURATION: '3600' }), {
    isOn: true,
    withPeople: true,
    withGroups: true,
    maxDuration: 3_600,
  })
  for (const SHARING of ['on', 'off,people', 'people,people', 'people,groups,off'])
    assert.deepEqual(read({ SHARING }).problems, ['SHARING: must be off, people, groups or people,groups'])
  assert.match(read({ SHARE_MAX_DURATION: '5' }).problems[0] ?? '', /^SHARE_MAX_DURATION: must be a whole number/)
})

test('FETCH_IMAGES is all when it is not set, and takes two words', () => {
  assert.deepEqual(
    [{}, { FETCH_IMAGES: 'all' }, { FETCH_IMAGES: 'prestart' }].map((env) => read(env).config?.fetchesImages),
    [true, true, false],
  )
  assert.deepEqual(read({ FETCH_IMAGES: 'false' }).problems, ['FETCH_IMAGES: must be all or prestart'])
})

test('MEASURE_USAGE is a time of a minute or more, and off when it is not set', () => {
  assert.deepEqual(
    [{}, { MEASURE_USAGE: '0' }, { MEASURE_USAGE: '60' }].map((env) => read(env).config?.measureUsage),
    [0, 0, 60],
  )
  for (const MEASURE_USAGE of ['59', '-1', 'on', '86401'])
    assert.deepEqual(read({ MEASURE_USAGE }).problems, ['MEASURE_USAGE: must be 0 or a whole number from 60 to 86400'])
})

test('SNAPSHOTS are on or off, and not with several nodes or a cluster', () => {
  assert.deepEqual(read({}).config?.snapshots, { isOn: false, maxBytes: 4 * 1024 ** 3 })
  assert.deepEqual(read({ SNAPSHOTS: 'on', SNAPSHOT_MAX_SIZE: '512m' }).config?.snapshots, {
    isOn: true,
    maxBytes: 512 * 1024 ** 2,
  })
  assert.deepEqual(read({ SNAPSHOTS: 'yes' }).problems, ['SNAPSHOTS: must be on or off'])
  for (const more of [{ ENGINE: 'kubernetes' }, { NODE_ADDRESS: '10.0.0.5:7070' }])
    assert.ok(
      read({ SNAPSHOTS: 'on', ...more }).problems.some((each) => each.startsWith('SNAPSHOTS: with ')),
      JSON.stringify(more),
    )
})

/** A misspelled zone stopped containers by UTC, and with `:/etc/localtime`, a usual value, there was no zone at all. */
test('TZ is the name of a time zone, or a file of the zone database; anything else is reported', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-zones-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [zone, link, copy] = ['zoneinfo/Asia/Kolkata', 'localtime', 'copy'].map((file) => path.join(folder, file))
  mkdirSync(path.dirname(zone ?? ''), { recursive: true })
  for (const file of [zone, copy]) writeFileSync(file ?? '', '')
  symlinkSync(zone ?? '', link ?? '')
  for (const TZ of ['Asia/Kolkata', ':Asia/Kolkata', zone ?? '', `:${zone}`, `:${link}`, link ?? ''])
    assert.equal(good({ TZ }).timeZone, 'Asia/Kolkata', TZ)
  assert.equal(good({ TZ: '/nowhere/zoneinfo/right/Europe/Berlin' }).timeZone, 'Europe/Berlin')
  assert.ok(isTimeZone(good({ TZ: '' }).timeZone))
  for (const TZ of ['Berlin', 'Mars/Olympus', 'CET-1CEST,M3.5.0,M10.5.0/3', `:${copy}`, `${folder}/none`, ':'])
    assert.deepEqual(read({ TZ }).problems, ['TZ: must be the name of a time zone such as Europe/Berlin'], TZ)
})

test('the order of template keys is that of the text, also for keys that look like numbers', () => {
  const config = good({ CONTAINER_TEMPLATES: '{"zeta": {"image": "z"}, "10": {"image": "a"}, "2": {"image": "b"}}' })
  assert.deepEqual(config.templates.types, ['zeta', '10', '2'])
  assert.equal(config.templates.first.type, 'zeta')
})

test('templates can be read from a YAML file', () => {
  const yaml = 'lab:\n  image: lab:1\n  memory: 512m\n  home: null\n  env:\n    A: b\n10:\n  image: ten\n'
  const { templates } = good({ CONTAINER_TEMPLATES_FILE: '/etc/t.yaml' }, { '/etc/t.yaml': yaml })
  assert.deepEqual(templates.types, ['lab', '10'])
  assert.equal(templates.first.memory, 512 * 1024 ** 2)
  assert.equal(templates.first.home, null)
})

test('CONTAINER_TEMPLATES takes names of the catalogue, in their order; unknown and doubled ones are reported', () => {
  const { templates } = good({ CONTAINER_TEMPLATES: 'jupyterlab, code-server' })
  assert.deepEqual(templates.types, ['jupyterlab', 'code-server'])
  assert.equal(templates.first.port, 8888)
  const problems = read({ CONTAINER_TEMPLATES: 'vite,jupyter-lab,vite' }).problems
  assert.equal(problems.length, 2)
  assert.match(
    problems.join('\n'),
    /^CONTAINER_TEMPLATES: "jupyter-lab" .* did you mean jupyterlab\?.*\n.*"vite" is named twice/,
  )
  assert.match(read({ CONTAINER_TEMPLATES: 'templates.yaml' }).problems.join(), /looks like the path of a file/)
})

test('a missing file, an empty map, a doubled key and a template without image are reported', () => {
  assert.match(read({ CONTAINER_TEMPLATES_FILE: '/none' }).problems.join(), /cannot read \/none/)
  assert.match(read({ CONTAINER_TEMPLATES: '{}' }).problems.join(), /at least one entry/)
  assert.match(read({ CONTAINER_TEMPLATES: '{"a":{"image":"x"},"a":{"image":"y"}}' }).problems.join(), /unique/)
  assert.match(read({ CONTAINER_TEMPLATES: '{"a":{}}' }).problems.join(), /a: image must be text/)
})

test('idle times contradict each other when what is stopped would be paused later', () => {
  const problems = (fields: string) => read({ CONTAINER_TEMPLATES: `{"a":{"image":"x",${fields}}}` }).problems.join()
  assert.equal(problems('"idle_pause":60,"idle_timeout":600,"idle_cpu":0.1'), '')
  assert.match(problems('"idle_pause":600,"idle_timeout":600'), /a: idle_pause must be smaller than idle_timeout/)
  assert.match(problems('"idle_cpu":0.1'), /a: idle_cpu means nothing without/)
  assert.match(problems('"idle_pause":-1'), /a: idle_pause must be a whole number/)
})

test("the owner's own token goes to their own containers only: with visitors it is refused", () => {
  const problems = (access: string) =>
    read({
      CONTAINER_TEMPLATES: JSON.stringify({ a: { image: 'x', forward_token: 'full', ...(access && { access }) } }),
    }).problems.join()
  for (const access of ['', 'owner']) assert.equal(problems(access), '')
  for (const access of ['authenticated', 'public'])
    assert.match(problems(access), /a: forward_token: full needs access: owner; .* every visitor's own token/)
})

test('names of headers are lower-cased, and an invalid one is reported', () => {
  const template = good({ CONTAINER_TEMPLATES: '{"a":{"image":"x","allow_headers":["Clear-Site-Data"]}}' }).templates
    .first
  assert.deepEqual([template.allowHeaders, template.rewriteLocation], [['clear-site-data'], true])
  for (const name of ['', 'a b', 'a:', 'a\\r\\nb'])
    assert.match(
      read({ CONTAINER_TEMPLATES: `{"a":{"image":"x","allow_headers":["${name}"]}}` }).problems.join(),
      /a: allow_headers must be a list of header names/,
    )
})

test('no template can free what keeps its app under its prefix', () => {
  for (const name of ['Set-Cookie', 'service-worker-allowed'])
    assert.match(
      read({ CONTAINER_TEMPLATES: `{"a":{"image":"x","allow_headers":["${name}"]}}` }).problems.join(),
      /a: allow_headers cannot free (set-cookie|service-worker-allowed)/,
    )
})

test('capabilities are those of Linux, with or without their prefix, and never all of them', () => {
  const withCapabilities = (cap_add: unknown) =>
    read({ CONTAINER_TEMPLATES: JSON.stringify({ dev: { image: 'x', cap_add } }) }).problems.join()
  assert.equal(withCapabilities(['SYS_PTRACE', 'CAP_NET_RAW', 'mknod']), '')
  assert.match(withCapabilities(['SYS_PTRACE', 'PTRACE']), /dev: cap_add has "PTRACE", which is no capability of Linux/)
  for (const all of ['ALL', 'cap_all']) assert.match(withCapabilities([all]), /dev: cap_add cannot be ALL/)
  assert.match(withCapabilities('SYS_PTRACE'), /dev: cap_add must be a list/)
})

test('names that every object has are no container types', () => {
  const { templates } = good({})
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
    assert.equal(templates.get(name), undefined)
})

test('the image of dev and prod can be set by variable while the templates are the defaults', () => {
  const { templates } = good({ USER_TEMPLATE_IMAGE_DEV: 'mine:1' })
  assert.equal(templates.get('dev')?.image, 'mine:1')
  assert.equal(templates.get('prod')?.image, 'berth-demo-prod:latest')
})

test('with CONTAINER_ROUTING=subdomain each container has a host below the spawner host, with its port', () => {
  const origin = (env: Record<string, string>) =>
    addressesFor(good({ CONTAINER_ROUTING: 'subdomain', ...env }), 4711).containerOrigin?.('ann-dev')
  assert.equal(origin({}), 'http://ann-dev.spawner.berth.localhost:4711')
  const own = { BASE_DOMAIN: 'Berth.Example.org', SPAWNER_SUBDOMAIN: '', PREFERRED_URL_SCHEME: 'https' }
  assert.equal(origin(own), 'https://ann-dev.berth.example.org')
  assert.equal(addressesFor(good({}), 4711).containerOrigin, null)
})

const noHosts: readonly [Record<string, string>, RegExp][] = [
  [{ CONTAINER_ROUTING: 'host' }, /^CONTAINER_ROUTING: must be path or subdomain$/],
  [{ BASE_DOMAIN: '10.0.0.7', SPAWNER_SUBDOMAIN: '' }, /BASE_DOMAIN must be a name/],
  [{ BASE_DOMAIN: '[::1]:8080', SPAWNER_SUBDOMAIN: '' }, /BASE_DOMAIN must be a name/],
  [{ BASE_DOMAIN: '10.0.0.7:8080' }, /BASE_DOMAIN must be a name/],
  [{ BASE_DOMAIN: `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.org` }, /too long: at most 189 characters/],
  [
    { FRONTEND_URL: 'http://my-app.spawner.berth.localhost' },
    /^FRONTEND_URL: my-app\.spawner\.berth\.localhost has the form/,
  ],
  ...['Dev', 'd_v', '-dev', 'dev-', 'a.b', 'dév', 'x'.repeat(35)].map((type): [Record<string, string>, RegExp] => [
    { CONTAINER_TEMPLATES: JSON.stringify({ [type]: { image: 'x' } }) },
    /^CONTAINER_ROUTING=subdomain: the container type ".*" cannot stand in a host name: at most 34 lower-case/,
  ]),
  [
    { CONTAINER_TEMPLATES: '{"dev": {"image": "x", "forward_token": "full"}}' },
    /^CONTAINER_ROUTING=subdomain: forward_token: full of the container type "dev"/,
  ],
]
for (const [env, problem] of noHosts)
  test(`subdomain routing is refused with words: ${JSON.stringify(env).slice(0, 90)}`, () => {
    const { problems } = read({ CONTAINER_ROUTING: 'subdomain', ...env })
    assert.equal(problems.length, 1, problems.join('\n'))
    assert.match(problems[0] ?? '', problem)
  })

test('types of 34 letters, digits and hyphens have hosts, and without subdomain routing any type will do', () => {
  const templates = (...types: string[]) =>
    JSON.stringify(Object.fromEntries(types.map((type) => [type, { image: 'x' }])))
  good({ CONTAINER_ROUTING: 'subdomain', CONTAINER_TEMPLATES: templates('x'.repeat(34), '1', 'a-b--c', 'r-4') })
  good({ CONTAINER_TEMPLATES: templates('Dev', 'd v') })
})

test('the front end and the containers share spawner.{base domain}, with the port that was bound', () => {
  assert.deepEqual(addressesFor(good({}), 4711), {
    containerOrigin: null,
    spawnerUrl: 'http://spawner.berth.localhost:4711',
    frontendUrl: 'http://spawner.berth.localhost:4711',
    cookieDomain: 'berth.localhost',
  })
})

test('an empty SPAWNER_SUBDOMAIN means the base domain itself', () => {
  const config = good({ SPAWNER_SUBDOMAIN: '', BASE_DOMAIN: 'berth.example.org', PREFERRED_URL_SCHEME: 'https' })
  assert.equal(addressesFor(config, 1).spawnerUrl, 'https://berth.example.org')
})

test('the base domain is lower-cased, loses its trailing dot and keeps its port, which the cookie drops', () => {
  const addresses = addressesFor(good({ BASE_DOMAIN: 'Berth.Example.ORG:8443' }), 1)
  assert.equal(addresses.spawnerUrl, 'http://spawner.berth.example.org:8443')
  assert.equal(addresses.cookieDomain, 'berth.example.org')
})

test('FRONTEND_URL may be overridden and loses its trailing slash', () => {
  assert.equal(
    addressesFor(good({ FRONTEND_URL: 'https://start.example.org/' }), 1).frontendUrl,
    'https://start.example.org',
  )
})

test('environments are refused with a cluster, and a template names one only while they are on', () => {
  const templates = JSON.stringify({ course: { environment: 'course' } })
  const problemsOf = (env: Record<string, string>) => read(env).problems.join('\n')
  assert.match(
    problemsOf({ ENGINE: 'kubernetes', ENVIRONMENTS: 'admins' }),
    /^ENVIRONMENTS: images are built by a Docker/,
  )
  assert.match(
    problemsOf({ CONTAINER_TEMPLATES: templates }),
    /^course: environment names course, and ENVIRONMENTS is off/,
  )
  const config = good({
    CONTAINER_TEMPLATES: templates,
    ENVIRONMENTS: 'managers',
    BUILD_MEMORY: '1g',
    BUILD_CPUS: '1.5',
  })
  assert.deepEqual(config.environments, {
    mode: 'managers',
    bases: null,
    gitHosts: [],
    parallel: 1,
    limits: { memory: 1024 ** 3, cpus: 1.5, timeout: 1_800_000, maxSize: 10 * 1024 ** 3 },
  })
  const both = JSON.stringify({ course: { environment: 'course', image: 'a' } })
  assert.match(problemsOf({ CONTAINER_TEMPLATES: both, ENVIRONMENTS: 'admins' }), /environment and image both say/)
  assert.match(problemsOf({ ENVIRONMENTS: 'admins', BUILD_BASES: 'a b' }), /^BUILD_BASES: .*no name of an image/)
  assert.match(problemsOf({ ENVIRONMENTS: 'managers', BUILD_GIT_HOSTS: 'https://x' }), /^BUILD_GIT_HOSTS: /)
})
