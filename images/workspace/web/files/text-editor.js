import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { css } from '@codemirror/lang-css'
import { html } from '@codemirror/lang-html'
import { javascript } from '@codemirror/lang-javascript'
import { json } from '@codemirror/lang-json'
import { markdown } from '@codemirror/lang-markdown'
import { python } from '@codemirror/lang-python'
import { HighlightStyle, bracketMatching, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { EditorState } from '@codemirror/state'
import {
  EditorView,
  drawSelection,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { t } from '../ui/i18n.js'

/** Colours are the page's own, so one style serves light and dark. */
const highlighting = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.tagName], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.regexp, tags.attributeValue], color: 'var(--code-string)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--code-number)' },
  { tag: [tags.comment, tags.meta, tags.processingInstruction], color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: [tags.function(tags.variableName), tags.attributeName, tags.propertyName], color: 'var(--code-name)' },
  { tag: [tags.link, tags.url], color: 'var(--accent)' },
  { tag: tags.heading, fontWeight: 'bold', color: 'var(--code-keyword)' },
  { tag: tags.strong, fontWeight: 'bold' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.monospace, color: 'var(--code-string)' },
])

/** @type {readonly [RegExp, () => import('@codemirror/state').Extension][]} */
const languages = [
  [/\.(m|c)?jsx?$/i, () => javascript({ jsx: true })],
  [/\.(m|c)?tsx?$/i, () => javascript({ jsx: true, typescript: true })],
  [/\.html?$/i, () => html()],
  [/\.css$/i, () => css()],
  [/\.json$/i, () => json()],
  [/\.(md|markdown)$/i, () => markdown()],
  [/\.py$/i, () => python()],
]

/**
 * The state of an open file: its text, its history, its cursor.
 * @param {string} path
 * @param {string} content
 * @param {() => void} onChange
 */
export function newState(path, content, onChange) {
  const language = languages.find(([names]) => names.test(path))
  return EditorState.create({
    doc: content,
    extensions: [
      basics,
      language ? language[1]() : [],
      content.includes('\r\n') ? EditorState.lineSeparator.of('\r\n') : [],
      EditorView.contentAttributes.of({ 'aria-label': t('Text of {path}', { path }) }),
      EditorView.updateListener.of((update) => update.docChanged && onChange()),
    ],
  })
}

/** The text as it goes to the disk, with the line ends that it came with. @param {EditorState} state */
export const textOf = (state) => state.doc.sliceString(0, state.doc.length, state.lineBreak)

// Escape, then Tab leaves the editor: CodeMirror's own way, so that indenting with Tab is no keyboard trap.
const basics = [
  lineNumbers(),
  highlightActiveLineGutter(),
  highlightSpecialChars(),
  history(),
  drawSelection(),
  indentOnInput(),
  bracketMatching(),
  closeBrackets(),
  autocompletion(),
  highlightActiveLine(),
  highlightSelectionMatches(),
  search({ top: true }),
  syntaxHighlighting(highlighting),
  EditorView.lineWrapping,
  keymap.of([
    ...closeBracketsKeymap,
    ...defaultKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...completionKeymap,
    indentWithTab,
  ]),
]

/** @param {HTMLElement} parent */
export const newView = (parent) => new EditorView({ parent })
