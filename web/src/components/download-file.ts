/** Has the browser download what an address of ours answers as an attachment. The page stays. */
export function downloadFrom(path: string): void {
  const link = document.createElement('a')
  link.href = path
  link.download = ''
  document.body.append(link)
  link.click()
  link.remove()
}

/** Starts a download. The content security policy allows it: a download is no navigation. */
export function downloadFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  document.body.append(link)
  link.click()
  link.remove()
  // Some browsers begin to read only after the click event.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
