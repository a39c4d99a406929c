import assert from 'node:assert/strict'
import { test } from 'node:test'
import { providerName } from './provider-name.ts'

const school = { displayName: 'School', start: 'https://spawner.example.org/api/auth/oidc/main/start' }

test('a session is said to have begun at the provider by its name, or by its id when it is not configured any more', () => {
  assert.equal(providerName('oidc:main', [school]), 'School')
  assert.equal(providerName('oidc:old', [school]), 'old')
  assert.equal(providerName('link', [school]), undefined)
})
