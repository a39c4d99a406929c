import { boot } from '#/api.ts'
import { contactOf } from '#/contact.ts'

/** Whom to ask, as the operator wrote it: pressed where it can be. Nothing where the operator says nothing. */
export function Contact() {
  if (boot.contact === null) return null
  const { text, href } = contactOf(boot.contact)
  return href === undefined ? (
    text
  ) : (
    <a className="address" href={href}>
      {text}
    </a>
  )
}
