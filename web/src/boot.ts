/** What the server knows about this navigation and tells the page inside the document. */
export interface Boot {
  /** Proves that a request comes from a page that was navigated to; null when nobody is signed in. */
  readonly csrf: string | null
  /** The same for signing in, where that can be done from this document. */
  readonly visit: string | null
  readonly signedIn: boolean
}

const nobody: Boot = { csrf: null, visit: null, signedIn: false }

/** Reads the server's JSON. Anything unexpected, such as the placeholder that was never filled, means: signed out. */
export function parseBoot(text: string | null | undefined): Boot {
  try {
    const value: unknown = JSON.parse(text ?? '')
    if (typeof value !== 'object' || value === null) return nobody
    const csrf = 'csrf' in value && typeof value.csrf === 'string' ? value.csrf : null
    const visit = 'visit' in value && typeof value.visit === 'string' ? value.visit : null
    return { csrf, visit, signedIn: 'signed_in' in value && value.signed_in === true }
  } catch {
    return nobody
  }
}

/** Reads the boot element once and takes it out of the document, where other scripts and extensions could find it. */
export function takeBoot(page: Document): Boot {
  const element = page.getElementById('boot')
  element?.remove()
  return parseBoot(element?.textContent)
}
