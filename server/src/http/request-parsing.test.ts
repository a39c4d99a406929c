import assert from 'node:assert/strict'
import { parse } from 'node:querystring'
import { test } from 'node:test'
import { parseQuery } from './request-parsing.ts'

test('a query is read as Node reads it', () => {
  const texts = ['', 'a', 'a=1&b=2', 'a=1&a=2&a=3', '&&a=1&', '=x', 'a=b=c', '?a=1', 'a+b=c+d', 'a=%41%zz%', 'a=%ff']
  for (const text of [...texts, '__proto__=1', 'x=%F0%9F%98%80', 'a=ä', 'constructor=1&constructor=2'])
    assert.deepEqual({ ...parseQuery(text) }, { ...parse(text) }, text)
})

test('of thousands of parameters the first 64 are read', () => {
  const names = Array.from({ length: 15_000 }, (_, at) => `p${at}`)
  assert.deepEqual(Object.keys(parseQuery(names.join('&'))), names.slice(0, 64))
})
