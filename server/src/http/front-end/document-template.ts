import { noticesPlaceholder } from './branded-document.ts'

/** Values for the placeholders of the document, each as it stands in HTML. */
export interface DocumentValues {
  /** CSP nonce of the response. */
  readonly nonce: string
  readonly notices: string
  readonly boot: string
}

const placeholders: ReadonlyMap<string, keyof DocumentValues> = new Map([
  ['__BERTH_NONCE__', 'nonce'],
  [noticesPlaceholder, 'notices'],
  ['__BERTH_BOOT__', 'boot'],
])
const anyPlaceholder = new RegExp(`(${[...placeholders.keys()].join('|')})`)

/**
 * The document of the front end, split at its placeholders once: to look for them at each request took longer than to put the
 * parts together.
 */
export class DocumentTemplate {
  readonly #parts: readonly { readonly text: string; readonly value: keyof DocumentValues | undefined }[]

  constructor(html: string) {
    this.#parts = html.split(anyPlaceholder).map((text) => ({ text, value: placeholders.get(text) }))
  }

  /** The document with these values; what looks like a placeholder in a value stays as it is. */
  filled(values: DocumentValues): string {
    let document = ''
    for (const { text, value } of this.#parts) document += value === undefined ? text : values[value]
    return document
  }
}
