import assert from 'node:assert/strict'
import { test } from 'node:test'
import { good, read } from '#test/support/read-settings.ts'

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
