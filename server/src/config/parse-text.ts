import type { TextBlock, TextSpan } from '@berth/api/schemas/branding.ts'

/** Max characters of a text, and max spans of a line: what a page can show at once. */
export const maxTextLength = 100_000
const maxSpans = 500

/**
 * Parses a safe subset of Markdown: headings (`#`, `##`), paragraphs, lists (`- `), `**bold**`, `[text](address)`.
 * Addresses are http, https and mailto; everything else, HTML included, is text. The result holds text alone: pages make
 * elements of it, so nothing in it can become markup.
 */
export function parseText(text: string): TextBlock[] {
  const blocks: TextBlock[] = []
  for (const part of text
    .replace(/^\uFEFF/, '')
    .replaceAll('\r\n', '\n')
    .split(/\n\s*\n/))
    addBlocks(blocks, part.trim())
  return blocks
}

/** A heading and the lines of a list need no empty line around them. */
function addBlocks(blocks: TextBlock[], part: string): void {
  let paragraph: string[] = []
  let items: string[] = []
  const flush = () => {
    if (paragraph.length > 0) blocks.push({ kind: 'paragraph', spans: spansOf(paragraph.join(' ')) })
    if (items.length > 0) blocks.push({ kind: 'list', items: items.map(spansOf) })
    paragraph = []
    items = []
  }
  for (const line of part.split('\n').map((each) => each.trim())) {
    const [, marks, heading] = /^(#{1,2})\s+(.+)$/.exec(line) ?? []
    const [, item] = /^[-*]\s+(.+)$/.exec(line) ?? []
    if (heading !== undefined) {
      flush()
      blocks.push({ kind: 'heading', level: marks === '#' ? 2 : 3, spans: spansOf(heading) })
    } else if (item !== undefined) {
      if (paragraph.length > 0) flush()
      items.push(item)
    } else if (line !== '') {
      const last = items.length - 1
      // A line that goes on with an item.
      if (last >= 0) items[last] += ` ${line}`
      else paragraph.push(line)
    }
  }
  flush()
}

const inline = /\*\*([^*]+)\*\*|\[([^\][]+)\]\(([^()\s]+)\)/g

function spansOf(line: string): TextSpan[] {
  const spans: TextSpan[] = []
  let end = 0
  for (const match of line.matchAll(inline)) {
    if (spans.length >= maxSpans) break
    const [whole, bold, label, address = ''] = match
    const span: TextSpan | undefined =
      bold !== undefined
        ? { text: bold, is_bold: true }
        : isSafe(address)
          ? { text: label ?? '', href: address }
          : undefined
    if (!span) continue
    if (match.index > end) spans.push({ text: line.slice(end, match.index) })
    spans.push(span)
    end = match.index + whole.length
  }
  if (end < line.length) spans.push({ text: line.slice(end) })
  return spans
}

/** Never `javascript:` or `data:`, and no address of this origin, which holds the containers of all users. */
const isSafe = (address: string) =>
  URL.canParse(address) && ['http:', 'https:', 'mailto:'].includes(new URL(address).protocol)
