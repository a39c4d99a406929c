import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chosenParameters } from './chosen-parameters.ts'

test('fields of the form become values of the types that the API takes', () => {
  const parameters = {
    size: { label: 'Size', type: 'choice', choices: ['1', '2'], default: '1', value: '1' },
    workers: { label: 'Workers', type: 'number', default: 2, value: 2 },
    debug: { label: 'Debug', type: 'boolean', default: true, value: true },
    trace: { label: 'Trace', type: 'boolean', default: false, value: false },
    branch: { label: 'Branch', type: 'text', default: '', value: '' },
  } as const
  const data = new FormData()
  for (const [name, value] of Object.entries({ size: '2', workers: '1.5', trace: 'on', branch: ' a' }))
    data.set(name, value)
  const writable = Object.fromEntries(
    Object.entries(parameters).map(([name, each]) => [name, { ...each, choices: ['1', '2'] }]),
  )
  assert.deepEqual(chosenParameters(writable, data), {
    size: '2',
    workers: 1.5,
    debug: false,
    trace: true,
    branch: ' a',
  })
})
