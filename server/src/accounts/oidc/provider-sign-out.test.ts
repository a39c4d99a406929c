import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LogoutTokenInvalid, LogoutTokenVerifier } from './provider-sign-out.ts'

test('keys without https prove nothing of an issuer with https', () => {
  const verifierFor = (keys: string, issuer: string) => new LogoutTokenVerifier(keys, issuer, 'berth')
  const issuer = 'https://login.example.org'
  for (const keys of ['http://login.example.org/keys', 'http://169.254.169.254/keys'])
    assert.throws(() => verifierFor(keys, issuer), LogoutTokenInvalid)
  assert.ok(verifierFor(`${issuer}/keys`, issuer))
  assert.ok(verifierFor('http://127.0.0.1:5556/keys', 'http://127.0.0.1:5556'))
})
