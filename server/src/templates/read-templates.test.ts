import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { readTemplate, readTemplates } from './read-templates.ts'

/** Forms of the fields of a template, and the words for what is none. */

const templateOf = (fields: object) => readTemplate('lab', { image: 'x', ...fields }).template
const problemOf = (fields: object) => readTemplate('lab', { image: 'x', ...fields }).problems.join('\n')

test('shared memory, GPUs and devices are what the engine is asked for', () => {
  const template = templateOf({
    shm_size: '1g',
    gpus: 2,
    devices: ['/dev/fuse', '/dev/sda:/dev/xvda:rw', '/dev/kvm:/dev/kvm'],
  })
  assert.equal(template?.shmSize, 1024 ** 3)
  assert.equal(template?.gpus, 2)
  assert.deepEqual(template?.devices, [
    { onHost: '/dev/fuse', inContainer: '/dev/fuse', rights: 'rwm' },
    { onHost: '/dev/sda', inContainer: '/dev/xvda', rights: 'rw' },
    { onHost: '/dev/kvm', inContainer: '/dev/kvm', rights: 'rwm' },
  ])
  assert.match(problemOf({ shm_size: 'much' }), /^lab: shm_size must be a number of bytes or text such as/)
  assert.match(problemOf({ gpus: 'all' }), /^lab: gpus must be a whole number from 0 to 1024$/)
  for (const device of [
    'fuse',
    '/etc/passwd',
    '/dev/../etc',
    '/dev/fuse:x',
    '/dev/fuse:/dev/fuse:rwx',
    '/dev/fuse:/dev/x:',
    '',
  ])
    assert.match(problemOf({ devices: [device] }), /^lab: devices has ".*", which is no device; they look like/, device)
  assert.match(problemOf({ devices: '/dev/fuse' }), /^lab: devices must be a list of strings$/)
})

test('Open leads to a path and query below the address of the container, and nowhere else', () => {
  for (const [given, path] of [
    ['/', ''],
    ['vnc.html?autoconnect=1', 'vnc.html?autoconnect=1'],
    ['/lab/tree?next=http://x/../y#z', 'lab/tree?next=http://x/../y#z'],
  ] as const)
    assert.equal(templateOf({ open_path: given })?.openPath, path)
  for (const given of [
    '//evil.example',
    'https://evil.example',
    'javascript:x',
    '../bob-dev',
    'a/../../b',
    '\\x',
    'a b',
    7,
  ])
    assert.match(problemOf({ open_path: given }), /^lab: open_path must be a path and query below/, String(given))
})

test('starter files come from a folder, an archive or a repository, and go below the home', () => {
  const filesOf = (value: unknown) => templateOf({ files: value })?.files
  assert.deepEqual(filesOf([{ from: { path: '/srv/course' }, to: './course//week1/' }]), [
    { from: { path: '/srv/course' }, to: 'course/week1', update: 'missing' },
  ])
  assert.deepEqual(
    filesOf([
      { from: { git: 'https://x.org/a.git' }, update: 'changed' },
      { from: { git: 'file:///srv/a.git', ref: 'v1.0' }, to: '.', update: 'never' },
      { from: { archive: '/srv/a.TAR.GZ' } },
      { from: { catalogue: 'code-server' } },
    ])?.map(({ from, to }) => [from, to]),
    [
      [{ git: 'https://x.org/a.git', ref: null }, ''],
      [{ git: 'file:///srv/a.git', ref: 'v1.0' }, ''],
      [{ archive: '/srv/a.TAR.GZ' }, ''],
      [{ catalogue: 'code-server' }, ''],
    ],
  )
  const git = (url: unknown, ref?: unknown) => [{ from: { git: url, ref } }]
  for (const [files, problem] of [
    ['x', /^lab: files must be a list of/],
    [[{ from: {} }], /^lab: files needs a "from" of/],
    [[{ from: { path: '/a', git: 'https://x.org' } }], /needs a "from" of/],
    [[{ from: { path: '' } }], /needs a "from" of/],
    [[{ from: { path: '/a', ref: 'x' } }], /has a "ref", which only git has$/],
    [[{ from: { catalogue: '../etc' } }], /which this release does not have$/],
    [[{ from: { archive: '/a.rar' } }], /names of archives end with \.tar, \.tar\.gz or \.zip$/],
    [git('ssh://x.org/a'), /is a URL with http, https or file$/],
    [git('/srv/a.git'), /is a URL with http, https or file$/],
    [git('ext::sh -c id'), /is a URL with http, https or file$/],
    [git('https://ann:secret@x.org/a'), /with a user or a password in its URL/],
    [git('https://x.org/a', '--upload-pack=id'), /needs a "ref" that is the name of/],
    [git('https://x.org/a', 'a b'), /needs a "ref" that is the name of/],
    [git('https://x.org/a', 'main:x'), /needs a "ref" that is the name of/],
    [[{ from: { path: '/a' }, to: '../x' }], /must not lead out of the home$/],
    [[{ from: { path: '/a' }, to: '/etc' }], /must not lead out of the home$/],
    [[{ from: { path: '/a' }, update: 'always' }], /needs an "update" of never, missing or changed$/],
    [[{ from: { path: '/a' }, when: 'now' }], /has the unknown key "when"/],
  ] as const) {
    assert.match(problemOf({ files }), problem)
    assert.doesNotMatch(problemOf({ files }), /secret/)
  }
  // They help where they can be put, so that a template of the catalogue is right without them.
  const helps = [{ from: { catalogue: 'code-server' } }]
  assert.deepEqual(templateOf({ files: helps, home: null })?.files, [])
  assert.deepEqual(templateOf({ files: helps, home_source: { path: '/srv/{slug}' } })?.files, [])
  const files = [{ from: { path: '/a' }, to: 'data/x' }]
  assert.match(problemOf({ files, home: null }), /^lab: files needs a home that they are put into$/)
  const mounts = [{ source: { volume: 'shared' }, target: '/home/berth/data' }]
  assert.match(
    problemOf({ files, mounts }),
    /\/home\/berth\/data\/x is in \/home\/berth\/data, which mounts puts there$/,
  )
})

test('a wrong value of any other field of the contract is named with its type, its field and what would be right', () => {
  for (const [fields, words] of [
    [{ shm_size: -1 }, /^lab: shm_size must be a number of bytes or text such as 512m or 2g$/],
    [{ layer_size: 'much' }, /^lab: layer_size must be a number of bytes or text such as 512m or 2g$/],
    [{ layer_size: '2g', read_only: true }, /^lab: layer_size means nothing with read_only: /],
    [{ gpus: -1 }, /^lab: gpus must be a whole number from 0 to 1024$/],
    [{ gpus: 0.5 }, /^lab: gpus must be a whole number from 0 to 1024$/],
    [{ max_lifetime: '1h' }, /^lab: max_lifetime must be a whole number from 0 to \d+$/],
    [{ ready_path: 'https://x.org' }, /^lab: ready_path must be a path and query below the container's address/],
    [{ ready_path: false }, /^lab: ready_path must be a path and query below/],
    [{ prestart: 'yes' }, /^lab: prestart must be true or false$/],
    [{ prestart: 1 }, /^lab: prestart must be true or false$/],
    [{ prestart_at: 'noon' }, /^lab: prestart_at must be a time of day such as 22:00, with a time zone/],
    [{ groups: 'physics' }, /^lab: groups must be a list of strings$/],
    [{ groups: [7] }, /^lab: groups must be a list of strings$/],
    [{ registry_auth: [] }, /^lab: registry_auth must be \{username, password_file: path below SECRETS_DIR\}$/],
    [{ mounts: {} }, /^lab: mounts must be a list of \{source, target, read_only\}/],
    [{ parameters: [] }, /^lab: parameters must be a map of/],
    [{ mount: [] }, /^lab: unknown field "mount"; known: .*\bmounts\b/],
  ] as const)
    assert.match(problemOf(fields), words, JSON.stringify(fields))
})

test('stop_at is a time of day, with a time zone or without', () => {
  assert.deepEqual(templateOf({ stop_at: '22:05' })?.stopAt, { minutes: 1325, zone: null })
  assert.deepEqual(templateOf({ stop_at: '7:00 Europe/Berlin' })?.stopAt, { minutes: 420, zone: 'Europe/Berlin' })
  for (const given of ['24:00', '22:60', '22', 2200, '10 pm'])
    assert.match(problemOf({ stop_at: given }), /^lab: stop_at must be a time of day such as 22:00/, String(given))
  assert.match(problemOf({ stop_at: '22:00 Berlin' }), /^lab: stop_at has the unknown time zone "Berlin"/)
  assert.match(problemOf({ max_lifetime: -1 }), /^lab: max_lifetime must be a whole number/)
})

test('mounts are volumes or folders, read-only unless the template says otherwise', () => {
  const mounts = [
    { source: { volume: 'data-1' }, target: '/data' },
    { source: { path: '/srv/x' }, target: '/home/berth/course', read_only: false },
  ]
  assert.deepEqual(templateOf({ mounts })?.mounts, [
    { source: { volume: 'data-1' }, target: '/data', readOnly: true },
    { source: { path: '/srv/x' }, target: '/home/berth/course', readOnly: false },
  ])
  const source = { volume: 'v1' }
  for (const [wrong, words] of [
    [{ source, target: 'data' }, /needs a target/],
    [{ source, target: '/' }, /needs a target/],
    [{ source, target: '/proc/x' }, /needs a target/],
    [{ source, target: '/a/../etc' }, /needs a target/],
    [{ source, target: '/a', mode: 'rw' }, /unknown key "mode"/],
    [{ source, target: '/a', read_only: 'no' }, /for \/a: read_only must be/],
    [{ source: 'v1', target: '/a' }, /for \/a: source must be \{volume: name\} or/],
    [{ source: { volume: '../x' }, target: '/a' }, /for \/a: source must be/],
    [{ source: { path: 'srv' }, target: '/a' }, /for \/a: source must be/],
    [{ source: { volume: 'v1', path: '/x' }, target: '/a' }, /for \/a: source must be/],
  ] as const)
    assert.match(problemOf({ mounts: [wrong] }), words, JSON.stringify(wrong))
  assert.match(problemOf({ mounts: [mounts[0], mounts[0]] }), /has the target \/data twice/)
  assert.match(
    problemOf({ mounts: [{ source, target: '/home/berth' }] }),
    /mounts has the home \/home\/berth as a target/,
  )
})

test('the home of a claim names the claim and a folder in it for each person, and nothing else', () => {
  const given = (home_source: object, others: object = {}) => ({ home: '/home/ann', home_source, ...others })
  const source = { claim: 'class-homes', sub_path: 'homes/{slug}' }
  assert.deepEqual(templateOf(given(source))?.homeSource, { claim: 'class-homes', subPath: 'homes/{slug}' })
  for (const [wrong, words] of [
    [{ ...source, claim: 'Homes' }, /home_source needs a claim that is the name of a PersistentVolumeClaim/],
    [{ ...source, create: '1000:1000' }, /home_source has the key "create" beside claim/],
    [{ claim: 'homes' }, /home_source needs a sub_path/],
    [{ ...source, sub_path: '/{slug}' }, /home_source needs a sub_path: a folder of the claim, relative to it/],
    [{ ...source, sub_path: '../{slug}' }, /home_source needs a sub_path/],
    [{ ...source, sub_path: 'homes' }, /sub_path homes needs \{slug\} or \{user_id\}/],
    [{ ...source, sub_path: '{slug}/{email}' }, /sub_path \{slug\}\/\{email\} has a brace that is none of/],
  ] as const)
    assert.match(problemOf(given(wrong)), words, JSON.stringify(wrong))
  assert.match(problemOf(given(source, { home_size: '1g' })), /home_size does not bind a home_source/)
})

test('secrets are named by variable and file, and set nothing that env sets', () => {
  assert.deepEqual(templateOf({ secrets: { TOKEN: { file: 'a/b' } } })?.secrets, { TOKEN: 'a/b' })
  for (const secrets of [
    ['TOKEN'],
    { TOKEN: 'a' },
    { TOKEN: { file: '' } },
    { 'A B': { file: 'x' } },
    { T: { path: 'x' } },
  ])
    assert.match(problemOf({ secrets }), /^lab: secrets must be a map of variable to \{file:/, JSON.stringify(secrets))
  assert.match(problemOf({ secrets: { A: { file: 'x' } }, env: { A: 'y' } }), /^lab: secrets and env both set A$/)
})

test('a mistake is named once', () => {
  for (const wrong of [{ home: 'here' }, { home_source: {} }, { files: 1 }, { image: '' }, { environment: 'No' }])
    assert.equal(readTemplate('lab', { image: 'x', ...wrong }).problems.length, 1, JSON.stringify(wrong))
})

test('a mistake in a file is named with its line and column', () => {
  const text = 'lab:\n  image: x\n  memory: much\n  colour: red\nnotes:\n  port: 8080\n'
  assert.deepEqual(
    readTemplates(text, 'T').problems.map((each) => each.slice(0, 60)),
    [
      'T: line 4, column 3: lab: unknown field "colour"; known: ext',
      'T: line 3, column 3: lab: memory must be a number of bytes o',
      'T: line 5, column 1: notes: image must be text',
    ],
  )
  assert.match(readTemplates('lab: [', 'T').problems.join(), /line 1, column/)
})

/** Of ten folders in `files` the operator had to find the wrong one. */
test('of a list or a map the entry that is wrong is where the mistake is', () => {
  const at = (fields: string) => {
    const { problems } = readTemplates(`lab:\n  image: x\n${fields}`, 'T')
    assert.equal(problems.length, 1, problems.join())
    return /^T: (line \d+, column \d+): lab: [a-z_]+ /.exec(problems[0] ?? '')?.[1]
  }
  const folder = '    - { from: { path: /a } }\n'
  assert.equal(at(`  files:\n${folder}${folder}    - { from: { path: /b }, update: always }\n`), 'line 6, column 7')
  assert.equal(at('  mounts:\n    - { source: { volume: ab }, target: data }\n'), 'line 4, column 7')
  const text = 'type: text, env'
  assert.equal(at(`  parameters:\n    a: { ${text}: A }\n    b: { ${text}: 1 }\n`), 'line 5, column 5')
  assert.equal(at('  env:\n    A: b\n    C: 5\n'), 'line 5, column 5')
  assert.equal(at('  command:\n    - sh\n    - 5\n'), 'line 5, column 7')
  assert.equal(at(`  parameters:\n    a: { ${text}: A }\n    b: { ${text}: A }\n`), 'line 3, column 3', 'each is right')
  assert.equal(at('  env: 5\n'), 'line 3, column 3')
  assert.equal(at('  registry_auth:\n    username: a\n'), 'line 3, column 3')
})

const size = { type: 'choice', choices: ['small', 'large'], env: 'SIZE' }

test('parameters have a label, a type, limits and a default, and a variable', () => {
  const read = templateOf({
    parameters: {
      size: { label: 'Size', ...size, default: 'large' },
      workers: { type: 'number', min: 2, max: 8, env: 'WORKERS' },
      debug: { type: 'boolean', env: 'DEBUG' },
      branch: { type: 'text', env: 'BRANCH', max: 20 },
    },
  })?.parameters
  const none = { choices: [], min: null, max: null }
  assert.deepEqual(read, {
    size: { ...none, label: 'Size', type: 'choice', env: 'SIZE', choices: ['small', 'large'], default: 'large' },
    workers: { ...none, label: 'workers', type: 'number', env: 'WORKERS', min: 2, max: 8, default: 2 },
    debug: { ...none, label: 'debug', type: 'boolean', env: 'DEBUG', default: false },
    branch: { ...none, label: 'branch', type: 'text', env: 'BRANCH', max: 20, default: '' },
  })
})

test('a parameter that could not be chosen, or that would hide a variable, is a mistake of the template', () => {
  const mistakes: [object, RegExp][] = [
    [{ ...size, type: 'list' }, /^lab: parameters for p: type must be one of choice, number, boolean, text$/],
    [{ ...size, choices: [] }, /choices must be a list of at least one text/],
    [{ ...size, choices: ['a', 'a'] }, /choices has one entry twice/],
    [{ ...size, default: 'huge' }, /default is not allowed: The parameter p must be one of these: small, large\./],
    [{ ...size, default: null }, /default is not allowed: it must not be null/],
    [{ ...size, min: 1 }, /min is for the types number and text alone/],
    [{ ...size, colour: 'red' }, /has the unknown key "colour"/],
    [{ ...size, env: '2BIG' }, /env must be the name of a variable/],
    [{ ...size, env: 'BERTH_USER' }, /env BERTH_USER is a variable that Berth sets itself/],
    [{ ...size, env: 'PORT' }, /env PORT is a variable that Berth sets itself/],
    [{ type: 'number', env: 'N', min: 3, max: 2 }, /min must not be greater than max, 2/],
    [{ type: 'number', env: 'N', max: 2, default: 3 }, /default is not allowed: The parameter p must be at most 2\./],
    [{ type: 'number', env: 'N', default: '3' }, /default is not allowed: The parameter p must be a number\./],
    [{ type: 'boolean', env: 'B', default: 'yes' }, /must be true or false/],
    [{ type: 'text', env: 'T', min: 1 }, /needs a default/],
    [{ type: 'text', env: 'T', choices: ['a'] }, /choices are for the type choice alone/],
  ]
  for (const [p, words] of mistakes) assert.match(problemOf({ parameters: { p } }), words, JSON.stringify(p))
  assert.match(problemOf({ parameters: { 'a b': size } }), /has the name "a b"/)
  assert.match(problemOf({ parameters: { a: size, b: size } }), /for b: env SIZE is used twice/)
  assert.match(
    problemOf({ parameters: { a: size }, env: { SIZE: 'x' } }),
    /parameters a sets SIZE, which env or secrets/,
  )
})

test('a type has a sign of the pages, or an image that is checked when the templates are read', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'berth-icons-'))
  after(() => rmSync(folder, { recursive: true }))
  const put = (name: string, content: string) => {
    writeFileSync(path.join(folder, name), content)
    return path.join(folder, name)
  }
  const drawing = (inside: string) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">${inside}</svg>`
  assert.equal(templateOf({})?.icon, null)
  assert.equal(templateOf({ icon: 'notebook' })?.icon, 'notebook')
  const image = templateOf({ icon: put('plain.svg', drawing('<path d="M0 0h8"/>')) })?.icon
  assert.ok(typeof image === 'object' && image)
  assert.equal(image.mediaType, 'image/svg+xml')
  assert.match(image.fileName, /^type-[\w-]{12}\.svg$/)
  assert.match(problemOf({ icon: 'notebok' }), /^lab: icon must be one of app, .*, or the absolute path of an image$/)
  assert.match(problemOf({ icon: 'icons/a.svg' }), /^lab: icon must be one of /)
  assert.match(problemOf({ icon: path.join(folder, 'missing.png') }), /^lab: icon cannot be read: /)
  const script = put('script.svg', drawing('<script>alert(1)</script>'))
  assert.match(problemOf({ icon: script }), /^lab: icon .*has an element that can run, load or link something/)
  const large = put('large.svg', drawing(' '.repeat(70_000)))
  assert.match(problemOf({ icon: large }), /^lab: icon .* has \d+ bytes; at most 65536 are allowed$/)
})
