import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cpuOfMachine, spentBetween } from './machine-cpu.mjs'

const stat = (/** @type {string} */ numbers) => `cpu  ${numbers}\ncpu0 1 2 3 4 5 6 7 8 0 0\nctxt 5\n`

test('the CPU time of a run is that of all programs and of the kernel, without what is idle, waits or was taken by the host', () => {
  const before = cpuOfMachine(stat('1000 100 2000 9000 400 10 20 300 0 0'))
  const after = cpuOfMachine(stat('60900 200 41970 99000 800 20 40 900 0 0'))
  assert.deepEqual(before, { programs: 11, kernel: 20.3 })
  assert.equal(
    spentBetween(before, after),
    '1000 s of CPU time on this machine, engine and containers included; 40 % of it in the kernel',
  )
})

test('where the system does not say, nothing is said', () => {
  assert.equal(cpuOfMachine(''), undefined)
  assert.equal(spentBetween(undefined, undefined), undefined)
})
