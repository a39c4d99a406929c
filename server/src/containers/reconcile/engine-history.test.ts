import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import { EngineHistory } from './engine-history.ts'

const known = {} as ContainerState
const minute = 60_000

/** What a history with this grace knows after these events, before which the first list was read. */
function after(actions: readonly string[], { grace = minute } = {}) {
  const history = new EngineHistory(grace)
  history.keep({ actions: [], since: new Map() })
  for (const action of actions) {
    if (action === 'lost' || action === 'found')
      history.onEvent({ id: undefined, action: action === 'lost' ? 'lost' : 'other' }, undefined)
    else history.onEvent({ id: 'aaa', action: action as 'die' | 'start' }, known)
  }
  return history
}

const deaths = (history: EngineHistory) => [...history.memory(new Set()).since.keys()]

test('a program that ended a moment before the engine went away was ended by it', () => {
  assert.deepEqual(deaths(after(['die'])), ['down aaa'])
  assert.deepEqual(deaths(after(['die', 'lost', 'found'])), [])
})

test('one that ended before that ended by itself', () => {
  assert.deepEqual(deaths(after(['die', 'lost', 'found'], { grace: -1 })), ['down aaa'])
})

test('one that was started again has not ended', () => {
  assert.deepEqual(deaths(after(['die', 'start'])), [])
})

test('when the engine was only not heard, what ended before did so by itself', () => {
  const history = after(['die', 'lost', 'found'])
  assert.ok(history.unexplainedLoss)
  history.itWentOn()
  assert.deepEqual(deaths(history), ['down aaa'])
  assert.equal(history.memory(new Set()).isFirstListing, false)
})

test('the first list of a process, and the first after the engine came back, are first lists', () => {
  const history = new EngineHistory(minute)
  assert.equal(history.memory(new Set()).isFirstListing, true)
  assert.equal(history.unexplainedLoss, undefined)
  assert.equal(after([]).memory(new Set()).isFirstListing, false)
  assert.equal(after(['lost', 'found']).memory(new Set()).isFirstListing, true)
})

test('a list while the engine is not heard does not count as one', () => {
  const history = after(['lost'])
  assert.equal(history.memory(new Set()).isBlind, true)
  history.keep({ actions: [], since: new Map() })
  history.onEvent({ id: undefined, action: 'other' }, undefined)
  const { isFirstListing, isBlind } = history.memory(new Set())
  assert.deepEqual([isFirstListing, isBlind], [true, false])
})

test('what was asked before the engine went away or came back can be distinguished from what was asked since', () => {
  const epochs = [[], ['lost'], ['lost', 'found'], ['lost', 'found', 'lost']].map((each) => after(each).epoch)
  assert.equal(new Set(epochs).size, epochs.length)
})
