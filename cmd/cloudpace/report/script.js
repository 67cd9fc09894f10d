"use strict";
// The table of coverage: filter, status and order. Rows come from the page as
// data and are made of text, never of markup.
(function () {
	const all = JSON.parse(document.getElementById("rows").textContent);
	const table = document.getElementById("records");
	const body = table.tBodies[0];
	const form = document.getElementById("filter");
	const box = document.getElementById("words");
	const note = document.getElementById("shown");
	const more = document.getElementById("more");
	const page = 300;
	const firstNumber = 5;
	const lastNumber = 9;
	const english = new Intl.NumberFormat("en-US");
		const heap = all.map((row) => row.join("\n").toLowerCase());
	let matching = all;
	let limit = page;
	let column = -1;
	let direction = 1;

	function cell(row, i) {
		const td = document.createElement("td");
		if (i === 0) {
			const span = document.createElement("span");
			span.className = "status " + row[0].toLowerCase();
			span.textContent = row[0];
			td.append(span);
			return td;
		}
		if (i >= firstNumber && i <= lastNumber) {
			td.className = "number";
			td.textContent = i === lastNumber ? row[i].toFixed(1) : english.format(row[i]);
			return td;
		}
		if (i === row.length - 1) {
			td.className = "said";
			if (row[i] !== "") {
				const div = document.createElement("div");
				div.title = row[i];
				div.textContent = row[i];
				td.append(div);
			}
			return td;
		}
		td.textContent = row[i];
		return td;
	}

	function draw() {
		const rows = document.createDocumentFragment();
		for (const row of matching.slice(0, limit)) {
			const tr = document.createElement("tr");
			tr.append(...row.map((_, i) => cell(row, i)));
			rows.append(tr);
		}
		body.replaceChildren(rows);
		say();
	}

	function say() {
		const shown = Math.min(limit, matching.length);
		let text = english.format(matching.length) + " of " + english.format(all.length) + " tasks";
		if (shown < matching.length) {
			text += ", the first " + english.format(shown) + " shown";
		}
		note.textContent = text + ".";
		more.hidden = shown >= matching.length;
	}

	function select() {
		const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
		const status = form.elements.status.value;
		matching = all.filter((row, i) => (status === "" || row[0] === status) && words.every((w) => heap[i].includes(w)));
		if (column >= 0) {
			const numbers = column >= firstNumber && column <= lastNumber;
			matching.sort((a, b) => {
				const x = a[column];
				const y = b[column];
				return direction * (numbers ? x - y : x < y ? -1 : x > y ? 1 : 0);
			});
		}
		limit = page;
		draw();
	}

	Array.from(table.tHead.rows[0].cells).forEach((th, i) => {
		const button = document.createElement("button");
		button.type = "button";
		button.textContent = th.textContent;
		th.replaceChildren(button);
		button.addEventListener("click", () => {
			const number = i >= firstNumber && i <= lastNumber;
			direction = column === i ? -direction : number ? -1 : 1;
			column = i;
			for (const other of table.tHead.rows[0].cells) {
				other.removeAttribute("aria-sort");
			}
			th.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
			select();
		});
	});
	form.hidden = false;
	form.addEventListener("submit", (e) => e.preventDefault());
	form.addEventListener("input", select);
	more.addEventListener("click", () => {
		limit += page;
		draw();
	});
	say();
})();
