import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { parseAst } from 'vite'

/**
 * All text that users read comes from the catalogues. Other sentences that the search finds are listed in `known`, by
 * file; the list should not grow. Drawings of icons are no text.
 */
const known: Readonly<Record<string, readonly string[]>> = {}

const folder = import.meta.dirname

test('the front end’s code contains no sentence, label or title', () => {
  const found = Object.fromEntries(
    globSync('**/*.{ts,tsx}', { cwd: folder })
      .filter((file) => !/\.test\.ts$|\.d\.ts$|(^|\/)(messages|icons)\//.test(file))
      .map((file) => [file, wordsIn(readFileSync(path.join(folder, file), 'utf8'), file)] as const)
      .filter(([, words]) => words.length > 0),
  )
  assert.deepEqual(found, known)
})

test('the search finds text for users and ignores text for programs', () => {
  const code = `
    const a = 'Type your address.'
    const b = <p title="Close">Hello {name}</p>
    const c = \`\${count} left over here\`
    throw new Error('an error for developers')
    const d = <p className="button primary">{t('some.key')}</p>
    const e = 'berth.next' + 'no-store' + "same-origin"
  `
  assert.deepEqual(wordsIn(code, 'x.tsx'), ['Type your address.', 'Close', 'Hello', 'left over here'])
})

interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

/** Attributes that users read or hear. */
const spoken = new Set(['title', 'alt', 'placeholder', 'label', 'aria-label', 'aria-description', 'aria-valuetext'])
/** Punctuation and spaces of a sentence; `button primary` and `a.b` have none. */
const isSentence = (text: string) =>
  /\p{L}{2,}.*\s.*\p{L}{2,}/u.test(text) && /^\P{L}*\p{Lu}|[.?!…]$|\s\p{L}+\s/u.test(text) && !/[=;[\]{}<>]/.test(text)
const hasWords = (text: string) => /\p{L}{2,}/u.test(text)

/** @param file by its extension: arrow functions with a type parameter cannot be distinguished from elements */
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

/** Only computed values of other attributes, such as `className`, are searched. */
function visitExpression({ value }: Node, found: string[]): void {
  if (isNode(value) && value.type === 'JSXExpressionContainer' && isNode(value.expression))
    if (/Function/.test(value.expression.type)) visit(value.expression, found)
}

/** Imports, types and errors for programmers. */
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
