// The public API of inspection uses types of the tuple space and of the recipes.
@_exported public import SpaceRecipes
