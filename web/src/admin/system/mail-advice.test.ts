import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailAdvice } from './mail-advice.ts'

const fine = {
  accepted: 100,
  failed: 0,
  used: 90,
  seconds_to_use: { median: 60, p90: 300 },
  seconds_to_accept: { median: 0.3, p90: 1 },
  last_failure_at: null,
  failures: [],
}

test('working mail needs no advice, nor do few mails', () => {
  assert.deepEqual(mailAdvice(fine), [])
  assert.deepEqual(mailAdvice({ ...fine, accepted: 5, used: 0, seconds_to_use: null, seconds_to_accept: null }), [])
})

test('late links, unused links and a slow mail server each cause advice', () => {
  assert.deepEqual(mailAdvice({ ...fine, seconds_to_use: { median: 500, p90: 850 } }), ['late'])
  assert.deepEqual(mailAdvice({ ...fine, used: 40 }), ['unused'])
  assert.deepEqual(mailAdvice({ ...fine, seconds_to_accept: { median: 2, p90: 20 } }), ['slow'])
})
