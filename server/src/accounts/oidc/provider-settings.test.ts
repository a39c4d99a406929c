import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import type { ReadSecret } from '#/machine/secret-file.ts'
import { readProviders } from './provider-settings.ts'

const root = path.resolve(import.meta.dirname, '../../../..')

const read = (text: string, readSecret: (file: string) => ReadSecret = () => ({ value: 'from the file' })) =>
  readProviders(text, 'FILE', readSecret)

test('a provider needs an issuer and a client; everything else has a default', () => {
  const { providers, problems } = read('main:\n  issuer: https://login.example.org/realms/a\n  client_id: berth\n')
  assert.deepEqual(problems, [])
  assert.deepEqual(providers, [
    {
      id: 'main',
      displayName: 'main',
      issuer: 'https://login.example.org/realms/a',
      clientId: 'berth',
      clientSecret: null,
      scopes: ['openid', 'email', 'profile'],
      emailClaim: 'email',
      trustEmail: false,
      groupsClaim: null,
      groupsAbsent: 'keep',
      memberGroups: null,
      allowedGroups: null,
      adminGroups: null,
    },
  ])
})

test('providers are read from JSON as well, in the order of the text', () => {
  const provider = { issuer: 'http://127.0.0.1:4000', client_id: 'berth', client_secret_file: '/run/secret' }
  const { providers } = read(`{"zeta": ${JSON.stringify(provider)}, "10": ${JSON.stringify(provider)}}`)
  assert.deepEqual(
    providers.map(({ id, clientSecret }) => [id, clientSecret]),
    [
      ['zeta', 'from the file'],
      ['10', 'from the file'],
    ],
  )
})

test('every problem names line, provider and field, and what would be right', () => {
  const text = `main:
  issuer: http://login.example.org
  client_id: berth
  client_secret: very secret
  client_secret_file: /run/secret
  scopes: email
  trust_email: "yes"
  admin_groups: [admins]
  colour: red
Other One:
  issuer: https://x.example
third:
  client_id: 7
fourth:
  issuer: https://login.example.org/.well-known/openid-configuration
  client_id: berth
`
  const { providers, problems } = read(text)
  assert.deepEqual(providers, [])
  assert.deepEqual(problems.map((each) => each.slice(0, 80)).sort(), [
    'FILE: line 10: Other One: the id must have 1 to 32 characters: a-z, 0-9 and, ins',
    'FILE: line 12: third: issuer is missing: Issuer, as the discovery document of th',
    'FILE: line 13: third: client_id must be text on one line',
    'FILE: line 15: fourth: issuer must be the issuer, not its discovery document: ht',
    'FILE: line 2: main: issuer must begin with https://; http:// is accepted for a l',
    'FILE: line 5: main: client_secret_file and client_secret: set one of them, not b',
    'FILE: line 6: main: scopes must be a list of text, e.g. [staff]',
    'FILE: line 7: main: trust_email must be true or false, without quotes',
    'FILE: line 8: main: admin_groups needs groups_claim, the name of the claim that ',
    'FILE: line 9: main: colour is not a field of a provider; known: display_name, is',
  ])
  assert.ok(problems.every((each) => !each.includes('very secret')))
})

test('a text that is no YAML, no map, or empty is a problem of its own, and shows no secret', () => {
  for (const text of ['', '- a', 'main: {client_secret: "hush', 'a: 1\na: 2']) {
    const { problems } = read(text)
    assert.ok(problems.length > 0, text)
    assert.ok(
      problems.every((each) => each.startsWith('FILE: ') && !each.includes('hush')),
      problems.join('\n'),
    )
  }
})

test('what an absent claim means is one of two words, and groups of memberships end with * or have none', () => {
  const text = (fields: string) => `main: {issuer: "https://x.example", client_id: berth, ${fields}}`
  const problemOf = (fields: string) => read(text(fields)).problems.join().replace('FILE: line 1: main: ', '')
  assert.equal(problemOf('groups_claim: g, groups_absent: nothing'), 'groups_absent must be keep or none')
  assert.match(problemOf('groups_absent: none'), /^groups_absent needs groups_claim/)
  assert.match(problemOf('member_groups: [a]'), /^member_groups needs groups_claim/)
  assert.match(problemOf('groups_claim: g, member_groups: a'), /^member_groups must be a list of text/)
  assert.match(problemOf('groups_claim: g, member_groups: ["a*b"]'), /^member_groups may have \* at the end .*"a\*b"$/)
  const { providers } = read(text('groups_claim: g, groups_absent: none, member_groups: []'))
  assert.deepEqual([providers[0]?.groupsAbsent, providers[0]?.memberGroups], ['none', []])
})

test('a secret file that is missing, and an openid scope that is, are problems', () => {
  const fields = 'issuer: https://x.example\n  client_id: berth\n  client_secret_file: /nowhere\n  scopes: [email]'
  const { problems } = readProviders(`main:\n  ${fields}`, 'FILE')
  assert.deepEqual(problems, [
    'FILE: line 4: main: client_secret_file must name a file with the secret: there is no file /nowhere',
    'FILE: line 5: main: scopes must contain openid, e.g. [openid, email, profile]',
  ])
})

test('addresses of any tenant of Microsoft cannot be trusted', () => {
  const text = (tenant: string) =>
    `main:\n  issuer: https://login.microsoftonline.com/${tenant}/v2.0\n  client_id: berth\n  trust_email: true`
  assert.match(read(text('common')).problems[0] ?? '', /line 4: main: trust_email cannot be true for all tenants/)
  assert.deepEqual(read(text('5c8f2f4e-0000-4000-8000-000000000000')).problems, [])
})

test('every provider in a how-to guide is one that Berth reads', () => {
  const pages = globSync('docs/how-to/sign-in-with-*.md', { cwd: root })
  const texts = pages.flatMap((page) =>
    [...readFileSync(path.join(root, page), 'utf8').matchAll(/^ *```yaml\n([^]*?)^ *```$/gm)].map(
      ([, text = '']) => text,
    ),
  )
  assert.ok(texts.length >= 7)
  for (const text of texts) assert.deepEqual(read(text).problems, [])
})
