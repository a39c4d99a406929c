/** The support contact as the operator wrote it (`SUPPORT_CONTACT`), and its link. */
export interface SupportContact {
  readonly text: string
  /** Undefined for text such as a room or a telephone number. */
  readonly href: string | undefined
}

/** An e-mail address becomes a mailto link, a URL a link; nothing else is ever a link, whatever it begins with. */
export function parseSupportContact(text: string): SupportContact {
  if (/^[\w.+-]+@[\w-]+(\.[\w-]+)+$/.test(text)) return { text, href: `mailto:${text}` }
  return { text, href: /^https?:\/\//i.test(text) && URL.canParse(text) ? text : undefined }
}
