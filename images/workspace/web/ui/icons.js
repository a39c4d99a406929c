/** Outlines on a grid of 20, drawn for this page. */
const shapes = {
  file: 'M5 2.5h6l4 4v11H5zM11 2.5v4h4',
  folder: 'M2.5 4.5h5l2 2h8v9h-15z',
  folderOpen: 'M2.5 15.5v-11h5l2 2h6v2.5M2.5 15.5l2.5-6.5h13l-2.5 6.5z',
  newFile: 'M9 17.5H4v-15h6l4 4V9M10 2.5v4h4M14 12v6M11 15h6',
  newFolder: 'M9 15.5H2.5v-11h5l2 2h7V10M14 12v6M11 15h6',
  upload: 'M10 13V3.5M6 7l4-4 4 4M3 12.5v4h14v-4',
  rename: 'M12.5 4.5l3 3-8.5 8.5H4v-3zM10.5 6.5l3 3',
  remove: 'M3.5 5.5h13M8 5.5v-2h4v2M5.5 5.5l.7 11h7.6l.7-11M8.5 8.5v5M11.5 8.5v5',
}

/** A picture beside words; silent to screen readers. @param {keyof typeof shapes} name */
export function icon(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('viewBox', '0 0 20 20')
  svg.setAttribute('class', `icon ${name}`)
  svg.setAttribute('aria-hidden', 'true')
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  path.setAttribute('d', shapes[name])
  svg.append(path)
  return svg
}
