/** Whom to ask for help, as the operator wrote it (`SUPPORT_CONTACT`), and where a press on it leads. */
export interface SupportContact {
  readonly text: string
  /** Undefined for mere words, such as a room or a telephone. */
  readonly href: string | undefined
}

/** An address becomes a link to write to it, a URL one to follow; nothing else is ever a link, whatever it begins with. */
export function parseSupportContact(text: string): SupportContact {
  if (/^[\w.+-]+@[\w-]+(\.[\w-]+)+$/.test(text)) return { text, href: `mailto:${text}` }
  return { text, href: /^https?:\/\//i.test(text) && URL.canParse(text) ? text : undefined }
}
