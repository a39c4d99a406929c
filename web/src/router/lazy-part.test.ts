import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createElement, Suspense, type ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import { firstParts, lazyPart } from './lazy-part.ts'

const Page = () => createElement('h1', null, 'Members')
const load = async () => ({ default: Page })
const shown = (page: ReactNode) => renderToString(createElement(Suspense, { fallback: 'Loading' }, page))

/** Each page with a chunk of its own said "Loading" first, and React left that for 0.3 s: a fifth of the time of a class's page. */
test('the page of the document is there in the first rendering, and nothing stands for it', async () => {
  const First = lazyPart(load, true)
  const Other = lazyPart(load, false)
  await firstParts()
  assert.match(shown(createElement(First)), /<h1>Members/)
  assert.match(shown(createElement(Other)), /Loading/)
})

test('a chunk that cannot be loaded, or never comes, keeps no page from its first rendering', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const failing = lazyPart(() => Promise.reject(new Error('gone')), true)
  await firstParts()
  assert.match(shown(createElement(failing)), /Loading/)
  lazyPart(() => new Promise<never>(() => undefined), true)
  const waiting = firstParts()
  t.mock.timers.tick(1_000)
  await waiting
})
