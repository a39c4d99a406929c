import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attemptsIn, beginAttempt } from './host-entry.ts'

for (const isSecure of [false, true]) {
  const settings = { domain: 'berth.example', isSecure }
  const begun = () => {
    const { attempt, setCookie } = beginAttempt(settings)
    return { attempt, pair: setCookie.slice(0, setCookie.indexOf(';')) }
  }

  test(`of hundreds of cookies that are named like attempts the last 32 count, https: ${isSecure}`, () => {
    const all = Array.from({ length: 300 }, begun)
    const header = ['theme=dark', ...all.map(({ pair }) => pair)].join('; ')
    assert.deepEqual(
      attemptsIn(header, settings),
      all.slice(-32).map(({ attempt }) => attempt),
    )
  })

  test(`an attempt with two values, and what has such a name inside another one, does not count, https: ${isSecure}`, () => {
    const [one, other] = [begun(), begun()]
    const tossed = `${other.attempt.name}=x`
    const header = `x_${one.pair}; a="${one.pair}"; ${one.pair} ; ${tossed};${other.pair}`
    assert.deepEqual(attemptsIn(header, settings), [one.attempt])
    assert.deepEqual(attemptsIn(undefined, settings), [])
  })
}
