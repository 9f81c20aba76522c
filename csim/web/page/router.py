"""All views of the page in one router."""

from __future__ import annotations

from fastapi import APIRouter

from csim.web.page import (
    answer_forms,
    assets,
    class_view,
    classes_view,
    history_view,
    live,
    login,
    map_view,
    overview,
    question,
    settings_view,
)

router = APIRouter(include_in_schema=False)
for view in (
    assets, question, answer_forms, live, overview, classes_view, class_view, map_view,
    history_view, settings_view, login,
):  # fmt: skip
    router.include_router(view.router)
