import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { parseAst } from 'vite'

/**
 * Every word that people read comes out of the catalogues. What is found here and is no such word stands in `known`, by
 * file, and there is no reason for that to grow.
 */
const known: Readonly<Record<string, readonly string[]>> = {}

const folder = import.meta.dirname

test('no sentence, label or title is left in the code of the front end', () => {
  const found = Object.fromEntries(
    globSync('**/*.{ts,tsx}', { cwd: folder })
      .filter((file) => !/\.test\.ts$|\.d\.ts$|(^|\/)messages\//.test(file))
      .map((file) => [file, wordsIn(readFileSync(path.join(folder, file), 'utf8'), file)] as const)
      .filter(([, words]) => words.length > 0),
  )
  assert.deepEqual(found, known)
})

test('the search finds what it is for, and leaves what is for programs', () => {
  const code = `
    const a = 'Type your address.'
    const b = <p title="Close">Hello {name}</p>
    const c = \`\${count} left over here\`
    throw new Error('a fault that nobody reads')
    const d = <p className="button primary">{t('some.key')}</p>
    const e = 'berth.next' + 'no-store' + "same-origin"
  `
  assert.deepEqual(wordsIn(code, 'x.tsx'), ['Type your address.', 'Close', 'Hello', 'left over here'])
})

interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

/** Attributes that people read or hear. */
const spoken = new Set(['title', 'alt', 'placeholder', 'label', 'aria-label', 'aria-description', 'aria-valuetext'])
/** Words between words, as in a sentence; `button primary` and `a.b` have none of its signs. */
const isSentence = (text: string) =>
  /\p{L}{2,}.*\s.*\p{L}{2,}/u.test(text) && /^\P{L}*\p{Lu}|[.?!…]$|\s\p{L}+\s/u.test(text) && !/[=;[\]{}<>]/.test(text)
const hasWords = (text: string) => /\p{L}{2,}/u.test(text)

/** @param file by its ending: arrow functions of a type parameter cannot be told from elements */
function wordsIn(code: string, file: string): string[] {
  const found: string[] = []
  visit(parseAst(code, { lang: file.endsWith('.tsx') ? 'tsx' : 'ts' }) as unknown as Node, found)
  return found
}

function visit(node: Node, found: string[]): void {
  if (isForPrograms(node)) return
  const text = textOf(node)
  if (text !== undefined) found.push(text)
  if (node.type === 'JSXAttribute' && !isSpoken(node)) return visitExpression(node, found)
  for (const child of childrenOf(node)) visit(child, found)
}

/** Of an attribute that nobody reads, such as `className`, only what is computed is looked at. */
function visitExpression({ value }: Node, found: string[]): void {
  if (isNode(value) && value.type === 'JSXExpressionContainer' && isNode(value.expression))
    if (/Function/.test(value.expression.type)) visit(value.expression, found)
}

/** Imports, types and what is thrown at programmers. */
function isForPrograms({ type, callee }: Node): boolean {
  if (/^(Import|Export(All|Named))Declaration$/.test(type)) return type.startsWith('Import')
  if (type.startsWith('TS') && !/^TS(As|NonNull|Satisfies)/.test(type)) return true
  if (type === 'CallExpression') return isNode(callee) && callee.type === 'Super'
  return type === 'NewExpression' && isNode(callee) && String(callee.name).endsWith('Error')
}

function textOf(node: Node): string | undefined {
  const { type, value } = node
  if (type === 'JSXText') return hasWords(String(value)) ? String(value).trim() : undefined
  if (type === 'JSXAttribute') {
    const isText = isNode(value) && value.type === 'Literal' && isSpoken(node)
    return isText && !isSentence(String(value.value)) && hasWords(String(value.value)) ? String(value.value) : undefined
  }
  if (type === 'Literal') return typeof value === 'string' && isSentence(value) ? value : undefined
  if (type !== 'TemplateElement') return undefined
  const { cooked } = value as { cooked: string }
  return isSentence(cooked) ? cooked.trim() : undefined
}

const isSpoken = ({ name }: Node) => isNode(name) && spoken.has(String(name.name))

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value

const childrenOf = (node: Node) => Object.values(node).flat().filter(isNode)
