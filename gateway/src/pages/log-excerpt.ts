import type { Language } from '@berth/api/boot.ts'
import { message } from '@berth/texts/localized-message.ts'
import { localize } from './localize-plain.ts'
import { escaped, type Markup } from './document.ts'

/** Characters of one line that are shown. An app that writes no line ends must not fill the page. */
const maxLineLength = 1000

/** Colours and cursor movements of terminals (ECMA-48 control sequences, and operating system commands such as titles). */
const terminalCodes = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-_]/g // oxlint-disable-line no-control-regex

/** Control characters, and those that reverse the reading order: a line must read as it was written. */
const invisible = /[^\P{Cc}\t]|\p{Bidi_Control}/gu

/**
 * The last lines of an app, oldest first, in a region that scrolls, begins at its end and can be reached by keyboard.
 * Nothing when the app wrote nothing.
 */
export function logRegion(lines: readonly string[], language: Language): Markup {
  if (lines.length === 0) return { html: '' }
  return {
    html: `<h2 id="lines">${escaped(localize(language, message('pages.lastLines')))}</h2>
<div class="lines" role="region" aria-labelledby="lines" tabindex="0">
<pre translate="no" dir="auto">
${lines.map((line) => escaped(readable(line))).join('\n')}</pre>
</div>
`,
  }
}

function readable(line: string): string {
  const text = line.replace(terminalCodes, '').replace(invisible, '')
  return text.length > maxLineLength ? `${text.slice(0, maxLineLength)}…` : text
}
